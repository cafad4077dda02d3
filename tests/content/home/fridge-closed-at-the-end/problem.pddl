(define (problem fridge-closed-at-the-end)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    fridge - cold-store  box - container)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
