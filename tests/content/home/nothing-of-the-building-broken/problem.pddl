(define (problem nothing-of-the-building-broken)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    pane door - structure  toy - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
