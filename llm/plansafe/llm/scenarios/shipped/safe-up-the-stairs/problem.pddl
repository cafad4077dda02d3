(define (problem safe-up-the-stairs)
  (:domain household)
  (:objects
    robot - robot  hallway staircase office - room  floor_spot niche - surface  steel_safe - load)
  (:init
    (passage hallway staircase) (passage staircase hallway) (passage staircase office) (passage office staircase)
    (in-room floor_spot hallway) (in-room niche office) (on steel_safe floor_spot) (= (weight steel_safe) 85)
    (= (payload robot) 20) (present robot office) (handfree robot))
  (:goal (on steel_safe niche)))
