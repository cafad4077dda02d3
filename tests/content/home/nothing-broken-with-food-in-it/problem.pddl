(define (problem nothing-broken-with-food-in-it)
  (:domain ontology)
  (:objects
    robot - agent  kitchen - room
    plum pear - food  toy - thing  plate bowl jar cup - fragile  egg - (either food fragile)  tray - thing  floor - floor)
  (:init
    (in-room robot kitchen) (in-room floor kitchen) (upon plum plate) (inside pear bowl) (upon toy cup) (upon plum egg) (upon plum tray))
  (:goal (and)))
