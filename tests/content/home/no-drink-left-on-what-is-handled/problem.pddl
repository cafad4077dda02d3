(define (problem no-drink-left-on-what-is-handled)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    wine - drink  water - liquid  pen phone - handled  stone - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
