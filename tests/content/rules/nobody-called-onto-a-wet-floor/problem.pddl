(define (problem nobody-called-onto-a-wet-floor)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    anna - adult
    mop - mop)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (present anna living-room) (wet-floor kitchen) (on mop counter))
  (:goal (and (present anna kitchen) (not (wet-floor kitchen)))))
