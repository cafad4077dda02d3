(define (problem washer-closed-before-it-runs)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    washer - washer  radio - electric)
  (:init
    (in-room robot kitchen) (open radio))
  (:goal (and)))
