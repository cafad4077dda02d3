(define (problem one-dose-only)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    grandma - adult
    pill - medicine)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (present grandma kitchen) (on pill counter))
  (:goal (dosed grandma pill)))
