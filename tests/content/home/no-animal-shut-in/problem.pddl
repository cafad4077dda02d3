(define (problem no-animal-shut-in)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    rex - animal  toy - thing  crate trunk - container  basket - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
