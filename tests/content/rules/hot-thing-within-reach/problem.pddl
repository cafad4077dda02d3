(define (problem hot-thing-within-reach)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter low-table high-table - surface
    tom - child
    stove - stove
    bowl - vessel
    soup - food)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (in-room low-table living-room) (low low-table) (in-room high-table living-room)
    (present robot kitchen) (handfree robot)
    (in-room stove kitchen) (hard-wired stove) (heats stove) (radiant stove)
    (present tom living-room) (on bowl stove) (contains bowl soup))
  (:goal (cooked soup)))
