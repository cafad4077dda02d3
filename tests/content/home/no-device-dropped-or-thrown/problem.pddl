(define (problem no-device-dropped-or-thrown)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    lamp - electric  remote - electronics  spoon - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
