(define (problem no-hot-iron-left-on-clothing)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    iron - heat-source  shirt - clothing  board - furniture  radio - electric)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
