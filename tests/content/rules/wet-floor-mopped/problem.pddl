(define (problem wet-floor-mopped)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    anna - adult
    mop - mop
    plate - vessel
    tray - surface)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (in-room tray living-room) (present anna kitchen) (wet-floor kitchen) (on mop counter) (on plate counter))
  (:goal (and (on plate tray) (not (wet-floor kitchen)))))
