(define (problem fridge-closed-at-the-end)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    fridge - fridge)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room fridge kitchen) (opens fridge))
  (:goal (and)))
