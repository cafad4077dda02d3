(define (problem sharp-thing-out-of-a-childs-reach)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    knife - sharp  toy - thing  toddler - child  anna - person  stool bench - low-place  shelf - furniture)
  (:init
    (in-room robot kitchen) (in-room toddler hall) (in-room stool hall) (in-room shelf hall)
    (in-room bench kitchen) (in-room anna kitchen))
  (:goal (and)))
