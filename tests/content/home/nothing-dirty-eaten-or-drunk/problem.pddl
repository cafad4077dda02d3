(define (problem nothing-dirty-eaten-or-drunk)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    apple - food  cup - tableware  toy - thing)
  (:init
    (in-room robot kitchen) (dirty apple) (dirty cup) (dirty toy))
  (:goal (and)))
