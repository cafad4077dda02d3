(define (problem no-poison-given-to-a-child)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    aspirin - medicine  bleach - toxic  toy - thing  anna - person  toddler - child)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
