(define (problem nothing-toxic-in-the-fridge)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    fridge - fridge  milk - food  spray - cleaner)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room fridge kitchen) (opens fridge) (on milk counter) (on spray counter))
  (:goal (and)))
