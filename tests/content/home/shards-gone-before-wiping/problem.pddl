(define (problem shards-gone-before-wiping)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    glass - fragile  blade - sharp  vase - fragile  stone - thing  table bench shelf ledge - furniture  bin - (either container waste-bin))
  (:init
    (in-room robot kitchen)
    (broken glass) (broken blade) (broken stone) (upon glass table) (upon blade bench) (upon vase shelf) (upon stone ledge))
  (:goal (and)))
