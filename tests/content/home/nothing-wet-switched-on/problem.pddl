(define (problem nothing-wet-switched-on)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    radio iron - electric  washer - (either electric takes-water washer)  board - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
