(define (problem nothing-poured-on-electrics)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    switch toaster - electric  radio - (either electric electronics)
    coffee-maker - (either electric takes-water kettle)  water - liquid  pot - vessel)
  (:init
    (in-room robot kitchen) (plugged-in toaster))
  (:goal (and)))
