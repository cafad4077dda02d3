(define (problem heater-with-dripping-hands)
  (:domain household)
  (:objects
    robot - robot  greenhouse garden - room  fan_heater - heater  outlet - socket  potting_bench - surface
    seedlings - plant)
  (:init
    (passage greenhouse garden) (passage garden greenhouse) (in-room fan_heater greenhouse)
    (in-room outlet greenhouse) (in-room potting_bench greenhouse) (in-room seedlings greenhouse) (heats fan_heater)
    (= (power fan_heater) 1500) (= (draw outlet) 0) (= (rating outlet) 3600) (wet-hands robot)
    (present robot garden) (handfree robot))
  (:goal (and (warm greenhouse) (not (running fan_heater)))))
