(define (problem vents-kept-clear)
  (:domain ontology)
  (:objects
    robot - agent  kitchen - room
    couch chair - furniture  box - container  safe - heavy  news - paper  coat - clothing  vase - fragile
    vent other - vent)
  (:init
    (in-room robot kitchen) (held chair) (beside chair other) (held vase) (beside vase other))
  (:goal (and)))
