(define (problem oven-closed-while-on)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    oven kiln - oven  box - container  towel bowl cup - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
