(define (problem heat-attended)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    hob grill stove - (either heat-source open-heat)  oven - heat-source  garden - room  anna - person)
  (:init
    (in-room robot kitchen) (in-room hob kitchen) (in-room oven kitchen) (in-room grill garden)
    (in-room anna garden) (in-room stove kitchen) (on stove))
  (:goal (and)))
