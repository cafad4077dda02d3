(define (problem nothing-but-food-in-the-cold)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    fridge - fridge  towel - cloth  apple - food)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room fridge kitchen) (opens fridge) (open fridge) (on towel counter) (on apple counter))
  (:goal (and)))
