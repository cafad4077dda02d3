(define (problem no-sharp-thing-on-soft-furniture)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    knife - sharp  toy - thing  bed - soft-furniture  table - furniture)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
