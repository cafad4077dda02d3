(define (problem no-metal-in-running-microwave)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    fork spoon - metallic  mug bowl plate saucer - vessel  microwave - microwave  drawer - container)
  (:init
    (in-room robot kitchen) (inside mug microwave))
  (:goal (and)))
