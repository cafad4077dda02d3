(define (problem no-animal-put-into-heat-or-cold)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    mia - animal  bread - food  oven - heat-source  microwave - microwave  fridge - cold-store  basket - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
