(define (problem no-spill-on-the-way)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    sink - sink
    pitcher - vessel
    table - surface)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (in-room sink kitchen) (in-room table living-room) (on pitcher counter))
  (:goal (and (filled pitcher) (on pitcher table))))
