(define (problem no-hand-on-running-heat)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    oven hob - heat-source  lamp - lamp)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
