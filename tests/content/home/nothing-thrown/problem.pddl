(define (problem nothing-thrown)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    ball - thing  pillow - soft)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
