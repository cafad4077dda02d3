(define (problem meltable-in-running-oven)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    oven - oven
    bread - food
    tray - vessel
    plastic-film - wrapping)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (in-room oven kitchen) (opens oven) (open oven) (hard-wired oven) (heats oven)
    (meltable plastic-film) (inside tray oven) (contains tray bread) (wrapped bread plastic-film))
  (:goal (hot bread)))
