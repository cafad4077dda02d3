(define (problem no-opening-and-closing-and-opening)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    box drawer - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
