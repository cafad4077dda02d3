(define (problem appliance-shut-at-the-end)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    dishwasher - washer  oven - oven  box - container)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
