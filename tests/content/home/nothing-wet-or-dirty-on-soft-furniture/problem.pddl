(define (problem nothing-wet-or-dirty-on-soft-furniture)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    towel boot scarf - thing  sofa - soft-furniture  table - furniture)
  (:init
    (in-room robot kitchen) (dirty boot))
  (:goal (and)))
