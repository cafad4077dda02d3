(define (problem nothing-toxic-in-the-fridge)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    bleach - toxic  milk - food  fridge - cold-store  drawer - container)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
