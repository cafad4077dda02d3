(define (problem no-running-with-full-hands)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    box bag - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
