(define (problem no-food-cut-on-what-is-broken)
  (:domain ontology)
  (:objects
    robot - agent  kitchen - room
    plum pear fig egg - food  board table - thing  toy - thing)
  (:init
    (in-room robot kitchen) (broken board) (broken egg) (upon plum board) (upon pear table) (upon toy board) (upon fig egg))
  (:goal (and)))
