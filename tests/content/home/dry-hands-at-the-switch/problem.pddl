(define (problem dry-hands-at-the-switch)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    lamp - electric  tap - water-source)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
