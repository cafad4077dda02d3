(define (problem no-electronics-in-the-heat)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    phone tablet - electronics  mug bowl plate - vessel  microwave - microwave  oven - heat-source
    drawer - container)
  (:init
    (in-room robot kitchen) (inside mug microwave) (inside mug oven))
  (:goal (and)))
