(define (problem no-oil-down-the-drain)
  (:domain ontology)
  (:objects
    robot - agent  kitchen - room
    fat - oil  water - liquid  sink - basin  pan - vessel)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
