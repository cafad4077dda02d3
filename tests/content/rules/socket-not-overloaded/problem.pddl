(define (problem socket-not-overloaded)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    kettle - kettle
    heater - heater
    socket - socket)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (in-room kettle kitchen) (in-room heater kitchen) (in-room socket kitchen) (plugged kettle socket) (plugged heater socket)
    (filled kettle) (heats kettle) (heats heater)
    (= (power kettle) 2200) (= (power heater) 1500) (= (draw socket) 0) (= (rating socket) 3600))
  (:goal (and (boiled kettle) (warm kitchen))))
