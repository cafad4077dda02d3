(define (problem nothing-left-where-it-was-dropped)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    sock shoe - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
