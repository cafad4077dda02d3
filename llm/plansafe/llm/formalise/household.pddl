; A small home with something of each kind, in which rules of the shipped domain `household` are tried out.

(define (problem small-home)
  (:domain household)
  (:objects
    robot - robot
    anna - adult  tom - child  rex - pet
    kitchen hall living-room - room
    counter table - surface
    sink - sink
    fridge - fridge
    stove - stove  oven - oven  kettle - kettle  heater - heater
    kitchen-socket hall-socket - socket
    front-door - door
    fern - plant
    pot cup - vessel
    apple chicken - food
    kitchen-knife - knife
    towel - cloth
    pills - medicine
    bleach - cleaner
    floor-mop - mop)
  (:init
    (passage kitchen hall) (passage hall kitchen) (passage hall living-room) (passage living-room hall)
    (in-room counter kitchen) (in-room sink kitchen) (in-room fridge kitchen) (in-room stove kitchen)
    (in-room oven kitchen) (in-room kettle kitchen) (in-room kitchen-socket kitchen)
    (in-room heater hall) (in-room hall-socket hall) (in-room front-door hall) (leads-outside front-door)
    (in-room table living-room) (in-room fern living-room)
    (next-to counter stove) (low table)
    (opens fridge) (opens oven) (opens front-door)
    (hard-wired stove) (hard-wired oven) (hard-wired kettle) (hard-wired heater)
    (heats stove) (heats oven) (heats heater) (radiant stove) (radiant heater)
    (= (power stove) 3500) (= (power oven) 2500) (= (power kettle) 2000) (= (power heater) 1500)
    (= (draw kitchen-socket) 0) (= (rating kitchen-socket) 3600) (= (draw hall-socket) 0) (= (rating hall-socket) 3600)
    (metal pot) (metal kitchen-knife) (sharp kitchen-knife) (flammable towel)
    (perishable chicken) (raw chicken) (needs-washing apple) (ready-to-eat apple) (allergic tom apple)
    (present robot kitchen) (present anna living-room) (present tom living-room) (present rex hall)
    (handfree robot)
    (on pot stove) (on cup counter) (on apple counter) (on kitchen-knife counter) (on towel counter)
    (on bleach counter) (on floor-mop counter) (on pills table) (inside chicken fridge))
  (:goal (and)))
