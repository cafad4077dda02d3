(define (problem wall-cupboard-shut-at-the-end)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    wall-unit - (either high-place container)  fridge - (either high-place container cold-store)
    chest - container  shelf - high-place)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
