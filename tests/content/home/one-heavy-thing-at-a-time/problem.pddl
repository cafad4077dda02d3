(define (problem one-heavy-thing-at-a-time)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    sack crate - heavy  feather - thing  table - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
