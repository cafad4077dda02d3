(define (problem nothing-but-water-into-what-heats-it)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    jug pitcher - vessel  coffee - drink  kettle - kettle  pot - cookware)
  (:init
    (in-room robot kitchen)
    (stains jug) (stains coffee))
  (:goal (and)))
