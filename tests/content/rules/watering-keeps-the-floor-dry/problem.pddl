(define (problem watering-keeps-the-floor-dry)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    sink - sink
    can - vessel
    ficus - plant)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (in-room sink kitchen) (in-room ficus kitchen) (on can counter))
  (:goal (watered ficus)))
