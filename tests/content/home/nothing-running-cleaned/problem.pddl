(define (problem nothing-running-cleaned)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    blender - electric  board - thing)
  (:init
    (in-room robot kitchen) (on board))
  (:goal (and)))
