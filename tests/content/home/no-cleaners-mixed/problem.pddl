(define (problem no-cleaners-mixed)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    bleach vinegar - toxic  water - liquid  bucket pail vat tub - vessel  washer - washer)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
