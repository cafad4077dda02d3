(define (problem no-running-with-a-sharp-thing)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    knife - sharp  toy - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
