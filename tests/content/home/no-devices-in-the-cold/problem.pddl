(define (problem no-devices-in-the-cold)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    laptop - electric  milk - food  fridge - cold-store  drawer - container)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
