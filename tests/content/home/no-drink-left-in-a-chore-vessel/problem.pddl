(define (problem no-drink-left-in-a-chore-vessel)
  (:domain ontology)
  (:objects
    robot - agent  kitchen - room
    bucket vase can pail - chore-vessel  cup - vessel  wine - drink  water - liquid  plum - food  toy - thing  floor - floor)
  (:init
    (in-room robot kitchen) )
  (:goal (and)))
