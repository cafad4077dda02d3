(define (problem nothing-running-cleaned)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    fridge - fridge  radio - device  spray - cleaner)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room fridge kitchen) (opens fridge) (in-room radio kitchen) (hard-wired radio)
    (on spray counter))
  (:goal (and)))
