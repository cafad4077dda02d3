(define (problem nothing-taken-from-under-what-breaks)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    vase cup bag - thing  jug mug - fragile  book box shelf - thing  plate - tableware)
  (:init
    (in-room robot kitchen)
    (upon jug book) (upon mug plate) (upon bag box))
  (:goal (and)))
