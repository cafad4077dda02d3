(define (problem no-taking-and-putting-and-taking)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    cup mug table - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
