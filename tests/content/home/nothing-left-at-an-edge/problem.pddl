(define (problem nothing-left-at-an-edge)
  (:domain ontology)
  (:objects
    robot - agent  kitchen - room
    vase mug - fragile  phone - electronics  dryer - electric  knife - sharp  candle - flame  box - heavy
    cloth - absorbent  table - furniture)
  (:init
    (in-room robot kitchen) (held vase) (at-edge vase) (held phone) (at-edge phone) (held dryer) (at-edge dryer)
    (held knife) (at-edge knife) (held candle) (at-edge candle) (held box) (at-edge box) (held cloth) (at-edge cloth)
    (held mug))
  (:goal (and)))
