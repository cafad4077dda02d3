(define (problem no-drink-left-among-what-is-stored)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    wine - drink  water - liquid  mug cup - tableware  shelf - high-place  drawer - container  fridge - (either container cold-store)  oven - (either container heat-source)  microwave - (either container microwave)  dishwasher - (either container washer)  bin - (either container waste-bin)  table - furniture  jug - vessel)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
