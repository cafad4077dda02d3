(define (problem medicine-within-reach)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    mia - child
    low-cupboard - cupboard
    high-cupboard - cupboard
    pill - medicine
    jar - vessel)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (in-room low-cupboard kitchen) (in-room high-cupboard kitchen) (opens low-cupboard) (opens high-cupboard)
    (low low-cupboard) (present mia kitchen) (on pill counter) (on jar counter))
  (:goal (or (inside pill low-cupboard) (inside pill high-cupboard) (contains jar pill))))
