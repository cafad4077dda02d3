(define (problem no-food-left-on-the-floor)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    bread pear - food  stone - thing  floor - floor  table - furniture)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
