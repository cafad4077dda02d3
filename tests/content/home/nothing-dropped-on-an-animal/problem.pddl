(define (problem nothing-dropped-on-an-animal)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    sack - heavy  knife - sharp  feather - thing  mia - animal  chair - furniture)
  (:init
    (in-room robot kitchen) (in-room mia kitchen) (in-room chair kitchen))
  (:goal (and)))
