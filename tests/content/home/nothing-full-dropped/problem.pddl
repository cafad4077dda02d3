(define (problem nothing-full-dropped)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    jug mug - vessel  bag - thing)
  (:init
    (in-room robot kitchen) (full bag))
  (:goal (and)))
