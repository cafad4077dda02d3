(define (problem no-raw-food-eaten)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    chicken egg - raw-food  apple - food)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
