(define (problem hob-off-before-the-pot-is-taken)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    pan - cookware  cup - thing  plate - hob  rack - thing)
  (:init
    (in-room robot kitchen)
    (upon pan plate) (upon cup plate))
  (:goal (and)))
