(define (problem metal-in-running-microwave)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    microwave - microwave
    soup - food
    mug - vessel
    foil - wrapping)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (in-room microwave kitchen) (opens microwave) (open microwave) (hard-wired microwave) (interlocked microwave) (heats microwave)
    (metal foil) (on mug counter) (contains mug soup) (wrapped mug foil))
  (:goal (hot soup)))
