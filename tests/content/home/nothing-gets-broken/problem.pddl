(define (problem nothing-gets-broken)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    radio toy - thing  pane - structure  egg - food)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
