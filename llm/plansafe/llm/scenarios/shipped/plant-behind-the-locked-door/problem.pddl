(define (problem plant-behind-the-locked-door)
  (:domain household)
  (:objects
    robot - robot  parlour winter_garden - room  glass_door - door  orchid - plant  tap - sink
    flower_table - surface  jug - vessel)
  (:init
    (links glass_door parlour winter_garden) (links glass_door winter_garden parlour) (in-room glass_door parlour)
    (in-room orchid winter_garden) (in-room tap parlour) (in-room flower_table parlour) (on jug flower_table)
    (present robot parlour) (handfree robot))
  (:goal (watered orchid)))
