(define (problem nothing-poured-on-furniture)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    table - furniture  sofa - (either furniture soft-furniture)  rug - soft-furniture  wine water - liquid
    glass - vessel)
  (:init
    (in-room robot kitchen)
    (stains wine))
  (:goal (and)))
