(define (problem nothing-toxic-poured-into-food)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    bleach - toxic  milk - liquid  rice beans - food  pot dish tray bucket - vessel)
  (:init
    (in-room robot kitchen) (holds pot rice) (inside beans dish) (upon beans tray))
  (:goal (and)))
