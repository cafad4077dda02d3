(define (problem hot-thing-to-child)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    tom - child
    stove - stove
    bowl - vessel
    soup - food)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (in-room stove kitchen) (hard-wired stove) (heats stove) (radiant stove)
    (present tom living-room) (on bowl stove) (contains bowl soup))
  (:goal (and (cooked soup) (has tom bowl))))
