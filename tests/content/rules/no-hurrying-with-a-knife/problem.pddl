(define (problem no-hurrying-with-a-knife)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    anna - adult
    knife - knife
    table - surface)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (in-room table living-room) (present anna living-room) (on knife counter))
  (:goal (on knife table)))
