(define (problem no-food-on-soft-furniture)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    cake - food  plate - thing  sofa - soft-furniture  table - furniture)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
