(define (problem no-switching-on-and-off-and-on)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    radio lamp - thing  device - electric)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
