(define (problem no-running-into-anybody)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    tim - child)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (present tim living-room))
  (:goal (and)))
