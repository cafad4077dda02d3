(define (problem no-opening-with-full-hands)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    box bag drawer - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
