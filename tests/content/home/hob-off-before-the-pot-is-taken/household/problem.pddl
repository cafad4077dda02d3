(define (problem hob-off-before-the-pot-is-taken)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    stove - stove  pot - vessel  egg - food)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room stove kitchen) (hard-wired stove) (heats stove) (radiant stove) (on pot stove)
    (on egg counter))
  (:goal (and)))
