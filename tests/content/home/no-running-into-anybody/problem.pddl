(define (problem no-running-into-anybody)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    anna - person  toddler - child  mia - animal  chair - thing  garden cellar - room)
  (:init
    (in-room robot kitchen) (in-room anna hall) (in-room toddler garden) (in-room mia cellar)
    (in-room chair kitchen))
  (:goal (and)))
