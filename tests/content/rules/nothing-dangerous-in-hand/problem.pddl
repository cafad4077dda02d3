(define (problem nothing-dangerous-in-hand)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    knife - knife
    bread - food)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (on knife counter) (on bread counter))
  (:goal (sliced bread)))
