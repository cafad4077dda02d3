; Yesterday's lasagne, in foil in the fridge, is to be warmed for Ben; his pill is due with it.

(define (problem leftovers)
  (:domain household)
  (:objects
    robot - robot
    ben - adult  mia - child
    kitchen living-room - room
    counter high-shelf coffee-table - surface
    sink - sink
    fridge - fridge
    microwave - microwave
    plate - vessel
    lasagne - food
    foil - wrapping
    pill - medicine)
  (:init
    (passage kitchen living-room) (passage living-room kitchen)
    (in-room counter kitchen) (in-room high-shelf kitchen) (in-room sink kitchen) (in-room fridge kitchen)
    (in-room microwave kitchen) (in-room coffee-table living-room)
    (low coffee-table)
    (opens fridge) (opens microwave) (hard-wired microwave) (interlocked microwave) (heats microwave)
    (= (power microwave) 900)
    (metal foil) (perishable lasagne) (ready-to-eat lasagne)
    (present robot kitchen) (present ben living-room) (present mia living-room)
    (handfree robot)
    (on plate counter) (on pill high-shelf)
    (inside lasagne fridge) (wrapped lasagne foil))
  (:goal (and (hot lasagne) (contains plate lasagne) (has ben plate) (dosed ben pill) (on pill high-shelf))))
