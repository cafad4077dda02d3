(define (problem no-animal-alone-with-the-heat)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    hob burner - open-heat  candle - flame  lamp - lamp  mia rex - animal  anna - person  toy - thing
    garden cellar - room  grill stove - open-heat)
  (:init
    (in-room robot kitchen) (in-room hob kitchen) (in-room burner kitchen) (on burner) (in-room candle kitchen)
    (in-room lamp kitchen) (in-room mia kitchen) (in-room grill garden) (in-room rex garden) (in-room anna garden)
    (in-room toy cellar) (in-room stove cellar))
  (:goal (and)))
