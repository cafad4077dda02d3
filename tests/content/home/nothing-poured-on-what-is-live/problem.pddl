(define (problem nothing-poured-on-what-is-live)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    toaster radio - electric  coffee-maker - (either electric takes-water kettle)  water - liquid  pot - vessel)
  (:init
    (in-room robot kitchen) (plugged-in toaster) (plugged-in coffee-maker) (on pot))
  (:goal (and)))
