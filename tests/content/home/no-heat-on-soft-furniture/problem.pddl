(define (problem no-heat-on-soft-furniture)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    iron - heat-source  bed - soft-furniture  board - furniture  laptop - electric)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
