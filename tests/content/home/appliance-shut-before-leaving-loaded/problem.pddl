(define (problem appliance-shut-before-leaving-loaded)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    dishwasher - washer  stove broiler - oven  box - container  plate - thing  shelf rug - thing)
  (:init
    (in-room robot kitchen)
    (in-room dishwasher kitchen) (in-room stove kitchen) (in-room broiler kitchen) (open broiler) (in-room shelf kitchen) (in-room rug hall))
  (:goal (and)))
