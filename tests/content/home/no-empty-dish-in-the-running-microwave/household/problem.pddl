(define (problem no-empty-dish-in-the-running-microwave)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    microwave - microwave  mug - vessel  soup - food)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room microwave kitchen) (opens microwave) (open microwave) (hard-wired microwave)
    (interlocked microwave) (heats microwave) (on mug counter) (on soup counter))
  (:goal (and)))
