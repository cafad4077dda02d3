(define (problem nothing-poured-where-a-device-lies)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    phone - electronics  drill - electric  spoon - thing  water - liquid  bin box desk table - container)
  (:init
    (in-room robot kitchen) (inside phone bin) (upon drill desk) (inside spoon box))
  (:goal (and)))
