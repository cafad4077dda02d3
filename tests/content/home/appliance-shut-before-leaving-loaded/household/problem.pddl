(define (problem appliance-shut-before-leaving-loaded)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    oven - oven  tin - vessel)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room oven kitchen) (opens oven) (hard-wired oven) (heats oven) (on tin counter))
  (:goal (and)))
