(define (problem nothing-runny-broken)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    egg - (either food runny)  jug dish - vessel  bottle - runny  pan - (either food vessel)  sink - basin  plug - food)
  (:init
    (in-room robot kitchen)
    (full jug) (holds pan bottle))
  (:goal (and)))
