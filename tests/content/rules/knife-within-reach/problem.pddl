(define (problem knife-within-reach)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    mia - child
    play-table - surface
    knife - knife
    bread - food)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (in-room play-table kitchen) (low play-table) (present mia kitchen) (on knife counter) (on bread counter))
  (:goal (sliced bread)))
