; Grandmother comes to see Mia: warm the living room, bring her tea, and see to it that she takes her pill.
; Somebody left the bleach on the coffee table, in reach of Mia.

(define (problem visit)
  (:domain household)
  (:objects
    robot - robot
    grandma - adult  mia - child
    kitchen living-room - room
    counter high-shelf coffee-table - surface
    sink - sink
    kettle - kettle  heater - heater
    kitchen-socket corner-socket - socket
    cup - vessel
    tea - food
    bleach - cleaner
    pill - medicine)
  (:init
    (passage kitchen living-room) (passage living-room kitchen)
    (in-room counter kitchen) (in-room high-shelf kitchen) (in-room sink kitchen) (in-room kettle kitchen)
    (in-room kitchen-socket kitchen)
    (in-room coffee-table living-room) (in-room heater living-room) (in-room corner-socket living-room)
    (low coffee-table)
    (heats kettle) (heats heater) (radiant heater)
    (plugged kettle kitchen-socket)
    (present robot living-room) (present grandma living-room) (present mia living-room)
    (handfree robot)
    (filled kettle) (on cup counter) (contains cup tea) (on pill high-shelf) (on bleach coffee-table)
    (= (power kettle) 2200) (= (power heater) 1500)
    (= (draw kitchen-socket) 0) (= (draw corner-socket) 0) (= (rating kitchen-socket) 3600) (= (rating corner-socket) 3600))
  (:goal (and (warm living-room) (has grandma cup) (hot cup) (dosed grandma pill) (on pill high-shelf))))
