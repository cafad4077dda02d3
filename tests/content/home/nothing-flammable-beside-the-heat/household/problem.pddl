(define (problem nothing-flammable-beside-the-heat)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    stove - stove  towel - cloth  pot - vessel  side - surface)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room stove kitchen) (hard-wired stove) (heats stove) (radiant stove)
    (in-room side kitchen) (next-to side stove) (on towel counter) (on pot counter))
  (:goal (and)))
