(define (problem nothing-but-water-for-plants)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    wine - drink  bleach - toxic  water - liquid  fern palm - plant  mug - vessel)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
