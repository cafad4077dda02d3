(define (problem nothing-out-of-a-chore-vessel-onto-what-is-eaten)
  (:domain ontology)
  (:objects
    robot - agent  kitchen - room
    can - chore-vessel  jug - vessel  plum - food  cup - tableware  pot - cookware  plant - plant  tray - thing)
  (:init
    (in-room robot kitchen) )
  (:goal (and)))
