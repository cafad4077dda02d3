(define (problem nothing-poured-on-the-floor)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    tiles - floor  cleaner - liquid  bucket - vessel)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
