(define (problem shards-cleared-away)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    vase cup - fragile  stone - thing  bin - container  table - furniture)
  (:init
    (in-room robot kitchen) (broken vase) (broken stone) (on table))
  (:goal (and)))
