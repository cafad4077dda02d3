(define (problem coffee-over-her-laptop)
  (:domain household)
  (:objects
    robot - robot  office tea_kitchen reception - room  writing_desk counter - surface  laptop - computer
    coffee_pot - vessel)
  (:init
    (passage office tea_kitchen) (passage tea_kitchen office) (passage office reception) (passage reception office)
    (in-room writing_desk office) (in-room counter tea_kitchen) (on laptop writing_desk) (on coffee_pot counter)
    (filled coffee_pot) (present robot reception) (handfree robot))
  (:goal (soaked laptop)))
