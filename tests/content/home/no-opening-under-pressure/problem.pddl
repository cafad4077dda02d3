(define (problem no-opening-under-pressure)
  (:domain ontology)
  (:objects
    robot - agent  kitchen - room
    cooker - pressure-cooker  pot - cookware)
  (:init
    (in-room robot kitchen) (hot pot))
  (:goal (and)))
