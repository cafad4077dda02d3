(define (problem no-walking-onto-a-wet-floor)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    mop - mop  mug - vessel)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (on mop counter) (on mug counter) (wet-floor living-room))
  (:goal (and)))
