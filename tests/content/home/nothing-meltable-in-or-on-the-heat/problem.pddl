(define (problem nothing-meltable-in-or-on-the-heat)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    tub lid - meltable  pot dish - vessel  oven hob - heat-source  television - electric)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
