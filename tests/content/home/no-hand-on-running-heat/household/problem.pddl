(define (problem no-hand-on-running-heat)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    stove - stove  spray - cleaner)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room stove kitchen) (hard-wired stove) (heats stove) (radiant stove) (on spray counter))
  (:goal (and)))
