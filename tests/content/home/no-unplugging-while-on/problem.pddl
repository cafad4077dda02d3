(define (problem no-unplugging-while-on)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    iron - electric  tent - thing)
  (:init
    (in-room robot kitchen) (plugged-in iron) (on tent))
  (:goal (and)))
