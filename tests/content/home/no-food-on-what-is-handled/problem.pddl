(define (problem no-food-on-what-is-handled)
  (:domain ontology)
  (:objects
    robot - agent  kitchen - room
    plum pear - food  toy - thing  book - handled  coat - clothing  plate table - thing)
  (:init
    (in-room robot kitchen) (upon toy book))
  (:goal (and)))
