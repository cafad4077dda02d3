(define (problem nothing-hot-on-soft-furniture)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    pan lid - vessel  sofa - soft-furniture  table - furniture)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
