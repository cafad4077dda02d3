(define (problem no-food-rinsed-where-it-lies)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    potato carrot leek milk - food  jug stone - thing  pot - vessel  sink - basin)
  (:init
    (in-room robot kitchen) (inside carrot pot) (upon leek sink))
  (:goal (and)))
