(define (problem one-dose-for-each-person)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    aspirin - medicine  anna tom - person  toy - thing  rex - animal)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
