(define (problem nothing-flammable-in-or-on-the-heat)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    towel napkin - flammable  pot - vessel  hob oven - heat-source  television - electric)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
