(define (problem no-bare-hand-on-hot-metal)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    stove - stove  knife - knife  pot - vessel)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room stove kitchen) (hard-wired stove) (heats stove) (radiant stove) (on pot stove)
    (contains pot knife))
  (:goal (and)))
