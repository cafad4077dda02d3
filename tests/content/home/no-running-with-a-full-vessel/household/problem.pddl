(define (problem no-running-with-a-full-vessel)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    sink - sink  jug - vessel  mop - mop)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room sink kitchen) (on jug counter))
  (:goal (and)))
