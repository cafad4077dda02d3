(define (problem nothing-live-in-water)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    hairdryer radio - electric  tub - basin  duck - thing  shelf - furniture)
  (:init
    (in-room robot kitchen) (plugged-in hairdryer) (on duck))
  (:goal (and)))
