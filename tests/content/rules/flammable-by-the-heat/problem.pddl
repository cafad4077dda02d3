(define (problem flammable-by-the-heat)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    stove - stove
    shelf - surface
    pot - vessel
    soup - food
    towel - cloth)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (in-room stove kitchen) (hard-wired stove) (heats stove) (radiant stove)
    (in-room shelf kitchen) (next-to counter stove) (flammable towel) (on towel counter) (on pot stove) (contains pot soup))
  (:goal (hot soup)))
