(define (problem nothing-left-where-it-was-dropped)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    soap pen - slippery  shoe - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
