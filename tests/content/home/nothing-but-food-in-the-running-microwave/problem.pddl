(define (problem nothing-but-food-in-the-running-microwave)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    soap book - thing  bread - food  tea - liquid  bowl - vessel  plate - tableware  fork - (either tableware metallic)
    foil - metallic  can - pressurised  phone - electronics  microwave - microwave  drawer - container)
  (:init
    (in-room robot kitchen) (on drawer))
  (:goal (and)))
