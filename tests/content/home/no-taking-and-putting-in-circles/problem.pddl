(define (problem no-taking-and-putting-in-circles)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    cup mug table - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
