(define (problem nothing-sealed-in-or-on-the-heat)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    can bottle - pressurised  pot dish - vessel  oven hob - heat-source  shelf - furniture)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
