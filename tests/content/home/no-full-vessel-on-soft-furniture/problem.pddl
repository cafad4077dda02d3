(define (problem no-full-vessel-on-soft-furniture)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    mug cup - vessel  bag - thing  sofa - soft-furniture  table - furniture)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
