(define (problem tableware-rinsed-of-cleaner)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    soap - toxic  milk - liquid  plate cup - tableware  bucket - vessel  dishwasher dryer - washer  microwave - microwave)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
