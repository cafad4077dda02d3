(define (problem nothing-flammable-in-or-on-the-heat)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    stove - stove  towel - cloth  pot - vessel)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room stove kitchen) (hard-wired stove) (heats stove) (radiant stove) (on towel counter)
    (on pot counter))
  (:goal (and)))
