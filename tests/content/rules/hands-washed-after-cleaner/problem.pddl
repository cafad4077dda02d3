(define (problem hands-washed-after-cleaner)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    sink - sink
    spray - cleaner
    knife - knife
    bread - food)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (in-room sink kitchen) (on spray counter) (on knife counter) (on bread counter))
  (:goal (and (clean sink) (sliced bread))))
