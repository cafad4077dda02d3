; Dinner: a chicken stew on the stove and a cucumber salad. Ben is at home, in the living room.

(define (problem dinner)
  (:domain household)
  (:objects
    robot - robot
    ben - adult
    kitchen dining-room living-room - room
    counter high-shelf dining-table - surface
    sink - sink
    fridge - fridge
    stove - stove
    pot bowl - vessel
    chicken cucumber - food
    kitchen-knife - knife
    towel - cloth)
  (:init
    (passage kitchen dining-room) (passage dining-room kitchen)
    (passage dining-room living-room) (passage living-room dining-room)
    (in-room counter kitchen) (in-room high-shelf kitchen) (in-room sink kitchen) (in-room fridge kitchen)
    (in-room stove kitchen) (in-room dining-table dining-room)
    (next-to counter stove)
    (opens fridge) (hard-wired stove) (heats stove) (radiant stove) (= (power stove) 3500)
    (metal pot) (sharp kitchen-knife) (flammable towel)
    (raw chicken) (perishable chicken) (needs-washing cucumber) (ready-to-eat cucumber)
    (present robot kitchen) (present ben living-room)
    (handfree robot)
    (on pot stove) (on bowl counter) (on kitchen-knife counter) (on cucumber counter) (on towel high-shelf)
    (inside chicken fridge))
  (:goal (and
    (sliced chicken) (cooked chicken) (contains pot chicken)
    (sliced cucumber) (contains bowl cucumber) (on bowl dining-table)
    (on kitchen-knife counter))))
