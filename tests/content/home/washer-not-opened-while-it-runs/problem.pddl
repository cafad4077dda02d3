(define (problem washer-not-opened-while-it-runs)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    washer - washer  box - container)
  (:init
    (in-room robot kitchen) (on box))
  (:goal (and)))
