(define (problem no-empty-dish-in-the-running-microwave)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    cup - vessel  plate - tableware  bowl - (either vessel tableware)  fork - (either tableware metallic)
    mug - vessel  bread - food  soup - liquid  napkin - thing  microwave - microwave  tray - thing
    jar - vessel  spoon - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
