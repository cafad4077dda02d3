(define (problem no-opening-with-full-hands)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    box bag drawer stone - thing  knife - sharp  cup pot - vessel)
  (:init
    (in-room robot kitchen) (hot pot) (hot stone))
  (:goal (and)))
