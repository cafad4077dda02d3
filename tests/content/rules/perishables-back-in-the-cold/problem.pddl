(define (problem perishables-back-in-the-cold)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    fridge - fridge
    milk - food
    tea - food
    cup - vessel
    anna - adult)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (in-room fridge kitchen) (opens fridge) (perishable milk) (inside milk fridge)
    (on cup counter) (contains cup tea) (present anna kitchen))
  (:goal (and (has anna cup) (not (open fridge)))))
