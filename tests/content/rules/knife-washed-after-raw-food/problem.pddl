(define (problem knife-washed-after-raw-food)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    sink - sink
    knife - knife
    fish bread - food)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (in-room sink kitchen) (raw fish) (ready-to-eat bread) (on knife counter) (on fish counter) (on bread counter))
  (:goal (and (sliced fish) (sliced bread))))
