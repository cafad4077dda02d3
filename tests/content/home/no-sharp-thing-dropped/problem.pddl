(define (problem no-sharp-thing-dropped)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    knife - sharp  toy - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
