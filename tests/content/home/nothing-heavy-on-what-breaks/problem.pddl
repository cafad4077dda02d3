(define (problem nothing-heavy-on-what-breaks)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    sack - heavy  feather - thing  vase - fragile  table - furniture)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
