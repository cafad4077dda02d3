; The shopping is on the kitchen counter: Put the butter and the ham into the fridge. Drawn by seed (family groceries, number 1).

(define (problem groceries-1)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter high-shelf - surface
    sink - sink
    fridge - fridge
    butter ham - food
    remote-control - item
    vase - vessel)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (in-room high-shelf kitchen) (in-room sink kitchen) (handfree robot) (present robot living-room)
    (in-room fridge kitchen) (opens fridge) (perishable butter) (ready-to-eat butter) (on butter counter)
    (perishable ham) (ready-to-eat ham) (on ham counter) (on remote-control high-shelf) (on vase high-shelf))
  (:goal (and (inside butter fridge) (inside ham fridge) (not (open fridge)))))
