(define (problem no-animal-alone-with-the-heat)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    stove - stove  rex - pet  anna - adult)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room stove kitchen) (hard-wired stove) (heats stove) (radiant stove)
    (present rex kitchen) (present anna living-room))
  (:goal (and)))
