(define (problem blade-washed-after-raw-food)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    chicken fish - (either food raw-food)  apple bread - food  knife cleaver - sharp  spoon - vessel)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
