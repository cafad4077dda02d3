(define (problem no-animal-in-a-machine)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    mia - animal  shirt - clothing  washer - washer  radio - electric)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
