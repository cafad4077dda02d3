(define (problem no-device-switched-again-and-again)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    radio - device)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room radio kitchen) (hard-wired radio))
  (:goal (and)))
