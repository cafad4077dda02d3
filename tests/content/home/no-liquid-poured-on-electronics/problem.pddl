(define (problem no-liquid-poured-on-electronics)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    laptop - electronics  coffee-maker - (either electronics takes-water)  juice - liquid  cup - vessel)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
