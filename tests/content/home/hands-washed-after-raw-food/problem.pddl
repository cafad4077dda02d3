(define (problem hands-washed-after-raw-food)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    chicken - (either food raw-food)  apple bread - food  box - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
