(define (problem nothing-flammable-stored-on-the-heat)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    towel - flammable  pot - vessel  hob - (either heat-source open-heat)  oven - heat-source  table - furniture)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
