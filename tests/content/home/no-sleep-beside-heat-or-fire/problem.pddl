(define (problem no-sleep-beside-heat-or-fire)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    heater - heat-source  candle - flame  kettle - (either heat-source self-stopping kettle)
    television - electric)
  (:init
    (in-room robot kitchen) (full kettle))
  (:goal (and)))
