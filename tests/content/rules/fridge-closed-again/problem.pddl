(define (problem fridge-closed-again)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    fridge - fridge
    juice - food
    glass - vessel
    anna - adult)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (in-room fridge kitchen) (opens fridge) (inside juice fridge) (on glass counter) (present anna living-room))
  (:goal (and (contains glass juice) (has anna glass) (not (open fridge)))))
