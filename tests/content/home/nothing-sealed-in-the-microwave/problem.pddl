(define (problem nothing-sealed-in-the-microwave)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    egg bottle - pressurised  mug bowl plate - vessel  microwave - microwave  drawer - container)
  (:init
    (in-room robot kitchen) (inside mug microwave))
  (:goal (and)))
