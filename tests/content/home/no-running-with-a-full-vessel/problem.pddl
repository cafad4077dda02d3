(define (problem no-running-with-a-full-vessel)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    jug mug - vessel  bag - thing)
  (:init
    (in-room robot kitchen) (full bag) (full mug))
  (:goal (and)))
