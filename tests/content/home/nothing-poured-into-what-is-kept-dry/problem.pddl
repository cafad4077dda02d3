(define (problem nothing-poured-into-what-is-kept-dry)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    chest - drawer  cupboard - container  bin - (either container waste-bin)  toilet - (either container basin)
    jar - (either container vessel)  washer - (either container washer)  microwave - (either container electric)
    fridge - (either container cold-store)  carton - (either container paper)  water - liquid  cup - vessel
    statue - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
