(define (problem cleaner-within-reach)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    mia - child
    low-cupboard - cupboard
    high-cupboard - cupboard
    bleach - cleaner)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (in-room low-cupboard kitchen) (in-room high-cupboard kitchen) (opens low-cupboard) (opens high-cupboard)
    (low low-cupboard) (present mia kitchen) (on bleach counter))
  (:goal (or (inside bleach low-cupboard) (inside bleach high-cupboard))))
