(define (problem nothing-that-bursts-in-the-freezer)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    cola - pressurised  peas - food  freezer - freezer  fridge - cold-store)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
