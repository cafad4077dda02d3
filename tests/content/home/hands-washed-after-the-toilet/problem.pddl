(define (problem hands-washed-after-the-toilet)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    toilet - toilet  chair - furniture  apple - food  box - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
