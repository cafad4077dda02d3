(define (problem nothing-full-in-a-drawer)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    mug cup - vessel  chest - drawer  table - furniture
    balloon - thing)
  (:init
    (full balloon) (in-room robot kitchen)
    (full mug))
  (:goal (and)))
