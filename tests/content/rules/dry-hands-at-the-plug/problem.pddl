(define (problem dry-hands-at-the-plug)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    kettle - kettle
    socket - socket
    sink - sink
    towel - cloth)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (in-room kettle kitchen) (in-room socket kitchen) (heats kettle) (plugged kettle socket)
    (= (power kettle) 2200) (= (draw socket) 0) (= (rating socket) 3600)
    (in-room sink kitchen) (on towel counter))
  (:goal (and (clean robot) (not (plugged kettle socket)))))
