(define (problem nothing-runny-broken)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    egg - (either food runny)  jug dish - vessel  bottle - runny  pan - (either food vessel)  sink - basin  plug - food
    balloon - thing  yolk wine - runny)
  (:init
    (full balloon) (holds balloon yolk) (in-room robot kitchen)
    (full jug) (holds pan bottle) (holds sink wine))
  (:goal (and)))
