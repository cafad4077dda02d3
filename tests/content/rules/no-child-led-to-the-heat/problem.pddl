(define (problem no-child-led-to-the-heat)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    mia - child
    heater - heater
    socket - socket)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (in-room heater living-room) (in-room socket living-room) (heats heater) (radiant heater) (plugged heater socket)
    (present mia kitchen) (= (power heater) 1500) (= (draw socket) 0) (= (rating socket) 3600))
  (:goal (and (present mia living-room) (warm living-room))))
