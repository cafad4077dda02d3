(define (problem no-poison-left-low)
  (:domain ontology)
  (:objects
    robot - agent  kitchen - room
    bleach - toxic  pills - medicine  pen - thing  sofa - low-place  shelf - thing)
  (:init
    (in-room robot kitchen) )
  (:goal (and)))
