(define (problem no-food-off-the-floor-served)
  (:domain ontology)
  (:objects
    robot - agent  kitchen - room
    plum pear fig date - food  toy - thing  floor - floor  plate - tableware  pot - cookware  fridge - cold-store  table - thing)
  (:init
    (in-room robot kitchen) (upon plum floor) (upon pear table) (upon fig floor) (upon toy floor) (upon date floor))
  (:goal (and)))
