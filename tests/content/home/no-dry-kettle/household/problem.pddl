(define (problem no-dry-kettle)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    kettle - kettle  socket - socket  jug - vessel  sink - sink)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room kettle kitchen) (in-room socket kitchen) (heats kettle) (plugged kettle socket)
    (on jug counter) (in-room sink kitchen)
    (= (power kettle) 2200) (= (draw socket) 0) (= (rating socket) 3600))
  (:goal (and)))
