(define (problem shards-not-moved-about)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    glass cup vase - fragile  blade - sharp  stone - thing  egg - (either food fragile)  table - furniture  bin - (either container waste-bin))
  (:init
    (in-room robot kitchen)
    (broken glass) (broken cup) (broken blade) (broken stone) (broken egg))
  (:goal (and)))
