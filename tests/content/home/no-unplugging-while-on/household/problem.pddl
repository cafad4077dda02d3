(define (problem no-unplugging-while-on)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    radio - device  socket - socket)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room radio kitchen) (in-room socket kitchen)
    (= (power radio) 20) (= (draw socket) 0) (= (rating socket) 3600))
  (:goal (and)))
