(define (problem nothing-pushed-with-a-fragile-thing-on-it)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    vase - fragile  ball - thing  table trolley - furniture)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
