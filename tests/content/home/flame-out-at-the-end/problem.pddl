(define (problem flame-out-at-the-end)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    candle - flame  lamp - lamp)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
