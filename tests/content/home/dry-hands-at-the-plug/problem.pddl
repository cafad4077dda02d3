(define (problem dry-hands-at-the-plug)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    lamp - electric)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
