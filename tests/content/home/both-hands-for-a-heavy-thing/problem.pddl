(define (problem both-hands-for-a-heavy-thing)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    sack crate - heavy  feather leaf table - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
