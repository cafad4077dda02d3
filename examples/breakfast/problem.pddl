; Breakfast for two: tea with milk for Anna, a sliced apple for Tom, who is four and plays in the living room.

(define (problem breakfast)
  (:domain household)
  (:objects
    robot - robot
    anna - adult  tom - child
    kitchen living-room - room
    counter high-shelf coffee-table - surface
    sink - sink
    fridge - fridge
    stove - stove  microwave - microwave  kettle - kettle
    counter-socket - socket
    cup - vessel
    tea apple milk - food
    fruit-knife - knife
    towel - cloth)
  (:init
    (passage kitchen living-room) (passage living-room kitchen)
    (in-room counter kitchen) (in-room high-shelf kitchen) (in-room sink kitchen) (in-room fridge kitchen)
    (in-room stove kitchen) (in-room microwave kitchen) (in-room kettle kitchen) (in-room counter-socket kitchen)
    (in-room coffee-table living-room)
    (low coffee-table)
    (opens fridge) (opens microwave)
    (hard-wired stove) (hard-wired microwave) (interlocked microwave)
    (heats stove) (heats microwave) (heats kettle) (radiant stove)
    (sharp fruit-knife) (flammable towel) (perishable milk) (needs-washing apple) (ready-to-eat apple)
    (present robot kitchen) (present anna living-room) (present tom living-room)
    (handfree robot)
    (on cup counter) (contains cup tea) (on apple counter) (on fruit-knife high-shelf)
    (on towel high-shelf) (inside milk fridge)
    (= (power stove) 3500) (= (power microwave) 900) (= (power kettle) 2200)
    (= (draw counter-socket) 0) (= (rating counter-socket) 3600))
  (:goal (and
    (contains cup tea) (contains cup milk) (has anna cup) (hot cup)
    (sliced apple) (has tom apple))))
