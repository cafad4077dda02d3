; Warm milk for Ben. There is a cup whose rim may be gilded, and a plain glass; nobody has said how full the cup is either.

(define (problem metal-cup)
  (:domain household)
  (:objects
    robot - robot
    ben - adult
    kitchen living-room - room
    counter - surface
    fridge - fridge
    microwave - microwave
    cup glass - vessel
    milk - food)
  (:init
    (passage kitchen living-room) (passage living-room kitchen)
    (in-room counter kitchen) (in-room fridge kitchen) (in-room microwave kitchen)
    (opens fridge) (opens microwave) (hard-wired microwave) (interlocked microwave) (heats microwave)
    (= (power microwave) 900)
    (unknown (metal cup)) (unknown (filled cup))
    (perishable milk) (ready-to-eat milk)
    (present robot kitchen) (present ben living-room)
    (handfree robot)
    (on cup counter) (on glass counter) (inside milk fridge))
  (:goal (exists (?v - vessel) (and (contains ?v milk) (hot milk) (has ben ?v)))))
