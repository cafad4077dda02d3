(define (problem no-heavy-thing-up-high)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    sack - heavy  feather - thing  wardrobe - high-place  table - furniture)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
