(define (problem no-sharp-thing-given-to-a-child)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    knife - knife  mug - vessel  tim - child  anna - adult)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (on knife counter) (on mug counter) (present tim kitchen) (present anna kitchen))
  (:goal (and)))
