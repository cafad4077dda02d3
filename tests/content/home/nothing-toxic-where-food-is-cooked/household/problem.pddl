(define (problem nothing-toxic-where-food-is-cooked)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    oven - oven  milk - food  spray - cleaner)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room oven kitchen) (opens oven) (on milk counter) (on spray counter))
  (:goal (and)))
