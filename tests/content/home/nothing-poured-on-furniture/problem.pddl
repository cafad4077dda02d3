(define (problem nothing-poured-on-furniture)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    table - furniture  wine - liquid  glass - vessel)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
