(define (problem nothing-poured-into-a-drawer)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    chest - drawer  water - liquid  cup - vessel)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
