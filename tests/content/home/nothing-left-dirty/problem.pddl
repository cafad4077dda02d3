(define (problem nothing-left-dirty)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    table counter - furniture  wine water - liquid)
  (:init
    (in-room robot kitchen)
    (stains wine) (dirty counter))
  (:goal (and)))
