(define (problem no-flame-at-what-burns)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    candle torch - flame  cloth paper - flammable  plate - tableware  lamp - lamp)
  (:init
    (in-room robot kitchen) (beside paper torch) (beside plate candle))
  (:goal (and)))
