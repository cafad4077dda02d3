(define (problem no-food-out-of-the-bin)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    bread pear plum - food  can - thing  bin - waste-bin  toilet - toilet  drawer - container)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
