(define (problem nothing-thrown-at-what-breaks)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    ball - thing  pillow - soft  dumbbell - heavy  mirror vase - fragile
    lamp - (either electric fragile) watch - (either electronics fragile)  chair - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
