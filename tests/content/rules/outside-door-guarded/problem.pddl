(define (problem outside-door-guarded)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    garden - room
    garden-door - door
    bench - surface
    box - vessel
    anna - adult
    minka - pet)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (links garden-door kitchen garden) (links garden-door garden kitchen) (in-room garden-door kitchen) (in-room garden-door garden)
    (in-room bench garden) (leads-outside garden-door) (opens garden-door) (present minka kitchen) (present anna living-room) (on box counter))
  (:goal (and (on box bench) (not (open garden-door)))))
