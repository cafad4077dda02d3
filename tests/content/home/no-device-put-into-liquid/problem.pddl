(define (problem no-device-put-into-liquid)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    phone - electronics  drill - electric  spoon - thing  cup bowl - vessel  drawer - container)
  (:init
    (in-room robot kitchen) (full cup) (full drawer))
  (:goal (and)))
