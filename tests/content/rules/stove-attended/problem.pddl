(define (problem stove-attended)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    ben - adult
    stove - stove
    sofa-table - surface
    pot - vessel
    soup - food)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (in-room stove kitchen) (hard-wired stove) (heats stove) (radiant stove)
    (in-room sofa-table living-room) (present ben living-room) (on pot stove) (contains pot soup))
  (:goal (and (hot soup) (not (running stove)))))
