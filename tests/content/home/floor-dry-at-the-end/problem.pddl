(define (problem floor-dry-at-the-end)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    tiles - floor  cloth - absorbent)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
