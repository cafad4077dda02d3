(define (problem cupboard-shut-at-the-end)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    cupboard - cupboard  fridge - fridge  bread - food)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room cupboard kitchen) (opens cupboard) (in-room fridge kitchen) (opens fridge)
    (inside bread cupboard))
  (:goal (and)))
