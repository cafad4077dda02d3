(define (problem no-running-with-a-sharp-thing)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    knife - knife)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (on knife counter))
  (:goal (and)))
