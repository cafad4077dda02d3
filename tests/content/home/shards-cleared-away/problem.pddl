(define (problem shards-cleared-away)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    vase cup - fragile  stone - thing  egg - (either fragile food)  bin - container  table - furniture)
  (:init
    (in-room robot kitchen) (broken vase) (broken stone) (broken egg) (on table))
  (:goal (and)))
