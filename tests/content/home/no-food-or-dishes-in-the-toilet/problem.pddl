(define (problem no-food-or-dishes-in-the-toilet)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    bread - food  plate - tableware  brush - thing  toilet - toilet  sink - basin)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
