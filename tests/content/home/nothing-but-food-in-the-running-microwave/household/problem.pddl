(define (problem nothing-but-food-in-the-running-microwave)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    microwave - microwave  rag - cloth  potato - food)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room microwave kitchen) (opens microwave) (open microwave) (hard-wired microwave)
    (interlocked microwave) (heats microwave) (on rag counter) (on potato counter))
  (:goal (and)))
