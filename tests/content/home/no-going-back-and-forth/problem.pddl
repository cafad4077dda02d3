(define (problem no-going-back-and-forth)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    chair table sofa cup box - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
