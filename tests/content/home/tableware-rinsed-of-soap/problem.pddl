(define (problem tableware-rinsed-of-soap)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    soap - foaming  milk - liquid  plate cup - tableware  pan - cookware  bucket sponge - thing  dishwasher dryer - washer  microwave - microwave)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
