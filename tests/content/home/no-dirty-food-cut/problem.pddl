(define (problem no-dirty-food-cut)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    apple pear - food  log - thing)
  (:init
    (in-room robot kitchen)
    (dirty apple) (dirty log))
  (:goal (and)))
