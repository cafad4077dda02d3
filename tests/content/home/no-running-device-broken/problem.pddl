(define (problem no-running-device-broken)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    lamp radio - electric  plate - thing)
  (:init
    (in-room robot kitchen) (plugged-in radio) (on plate))
  (:goal (and)))
