(define (problem nothing-thrown-at-a-device)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    ball - thing  pillow - soft  dumbbell - heavy  lamp tv - electric  phone - electronics  chair - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
