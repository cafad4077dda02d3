(define (problem no-hot-thing-given-to-a-child)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    toddler - child  anna - person  mug cup plate - vessel  soup - food  toy - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
