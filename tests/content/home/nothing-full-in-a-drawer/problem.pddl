(define (problem nothing-full-in-a-drawer)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    mug cup - vessel  chest - drawer  table - furniture)
  (:init
    (in-room robot kitchen)
    (full mug))
  (:goal (and)))
