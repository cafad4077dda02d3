(define (problem no-device-switched-again-and-again)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    radio lamp - electric  kettle - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
