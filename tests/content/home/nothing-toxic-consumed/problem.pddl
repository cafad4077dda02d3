(define (problem nothing-toxic-consumed)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    bleach - toxic  cup glass jar - vessel  milk - liquid)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
