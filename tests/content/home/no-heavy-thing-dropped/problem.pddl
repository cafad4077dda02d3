(define (problem no-heavy-thing-dropped)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    sack - heavy  feather - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
