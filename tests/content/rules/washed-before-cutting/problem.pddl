(define (problem washed-before-cutting)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    sink - sink
    knife - knife
    carrot - food)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (in-room sink kitchen) (needs-washing carrot) (on knife counter) (on carrot counter))
  (:goal (sliced carrot)))
