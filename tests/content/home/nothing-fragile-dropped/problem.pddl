(define (problem nothing-fragile-dropped)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    vase - fragile  ball - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
