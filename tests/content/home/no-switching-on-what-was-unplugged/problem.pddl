(define (problem no-switching-on-what-was-unplugged)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    radio - electric  lamp - electric  toy - thing)
  (:init
    (in-room robot kitchen) (plugged-in radio))
  (:goal (and)))
