(define (problem dry-hands-at-the-switch)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    radio - device  towel - cloth  sink - sink)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room sink kitchen) (in-room radio kitchen) (hard-wired radio) (on towel counter))
  (:goal (and)))
