(define (problem no-poison-within-an-animals-reach)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    aspirin - medicine  bleach - toxic  toy - thing  mia - animal  anna - person  stool bench - low-place
    shelf - furniture)
  (:init
    (in-room robot kitchen) (in-room mia hall) (in-room stool hall) (in-room shelf hall) (in-room bench kitchen)
    (in-room anna kitchen))
  (:goal (and)))
