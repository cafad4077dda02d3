(define (problem no-poison-given-to-a-child)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    pills - medicine  spray - cleaner  tim - child  anna - adult)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (on pills counter) (on spray counter) (present tim kitchen) (present anna kitchen))
  (:goal (and)))
