(define (problem no-poison-within-a-childs-reach)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    aspirin - medicine  bleach - toxic  toy - thing  toddler - child  anna - person  stool bench - low-place
    shelf - furniture)
  (:init
    (in-room robot kitchen) (in-room toddler hall) (in-room stool hall) (in-room shelf hall)
    (in-room bench kitchen) (in-room anna kitchen))
  (:goal (and)))
