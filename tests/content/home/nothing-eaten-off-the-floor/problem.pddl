(define (problem nothing-eaten-off-the-floor)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    tiles - floor  table - furniture  apple bread - food  toy - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
