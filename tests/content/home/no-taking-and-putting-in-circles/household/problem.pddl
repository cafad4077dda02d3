(define (problem no-taking-and-putting-in-circles)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    mug - vessel)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (on mug counter))
  (:goal (and)))
