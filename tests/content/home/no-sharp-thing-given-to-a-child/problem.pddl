(define (problem no-sharp-thing-given-to-a-child)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    knife - sharp  toy - thing  anna - person  toddler - child)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
