(define (problem no-opening-and-closing-and-opening)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    fridge - fridge)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room fridge kitchen) (opens fridge))
  (:goal (and)))
