(define (problem no-empty-pot-on-the-heat)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    hob ring - open-heat  oven - heat-source  pot pan - cookware  cup bowl - vessel  water - liquid  egg - food  table - furniture)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
