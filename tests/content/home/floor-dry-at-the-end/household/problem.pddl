(define (problem floor-dry-at-the-end)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    sink - sink  bucket - vessel  mop - mop)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room sink kitchen) (on bucket counter) (on mop counter))
  (:goal (and)))
