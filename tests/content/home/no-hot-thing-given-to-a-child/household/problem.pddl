(define (problem no-hot-thing-given-to-a-child)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    stove - stove  pot - vessel  soup - food  tim - child  anna - adult)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room stove kitchen) (hard-wired stove) (heats stove) (radiant stove) (on pot stove)
    (contains pot soup) (present tim kitchen) (present anna kitchen))
  (:goal (and)))
