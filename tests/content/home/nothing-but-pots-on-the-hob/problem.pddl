(define (problem nothing-but-pots-on-the-hob)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    knife - thing  towel - flammable  pot - cookware  cup - vessel  kettle - kettle  hob - hob  table - furniture)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
