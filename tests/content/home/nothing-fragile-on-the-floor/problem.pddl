(define (problem nothing-fragile-on-the-floor)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    vase - fragile  ball - thing  tiles - floor  table - furniture)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
