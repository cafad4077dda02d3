(define (problem dry-hands-at-the-plug)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    radio - device  socket - socket  towel - cloth  sink - sink)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room sink kitchen) (in-room radio kitchen) (in-room socket kitchen) (on towel counter)
    (= (power radio) 20) (= (draw socket) 0) (= (rating socket) 3600))
  (:goal (and)))
