(define (problem no-drink-into-what-is-dirty)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    mug cup glass - tableware  bucket - vessel  tea - liquid)
  (:init
    (in-room robot kitchen)
    (dirty mug) (dirty cup) (dirty bucket))
  (:goal (and)))
