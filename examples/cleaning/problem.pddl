; Saturday: wipe the bathroom basin, water the ficus, mop up what the washing machine left in the hall, put out the rubbish bag.
; Mia, two years old, plays in the living room with the cat; Ben works in the study.

(define (problem cleaning)
  (:domain household)
  (:objects
    robot - robot
    ben - adult  mia - child  minka - pet
    hall bathroom living-room study porch - room
    front-door study-door - door
    ficus - plant
    basin - sink
    bathroom-cupboard - cupboard
    coffee-table hall-shelf porch-bench - surface
    jug bin-bag - vessel
    bleach - cleaner
    mop - mop
    bath-towel - cloth)
  (:init
    (passage hall bathroom) (passage bathroom hall) (passage hall living-room) (passage living-room hall)
    (links study-door hall study) (links study-door study hall) (in-room study-door hall) (in-room study-door study)
    (links front-door hall porch) (links front-door porch hall) (in-room front-door hall) (in-room front-door porch)
    (leads-outside front-door) (opens front-door) (opens study-door)
    (in-room ficus living-room) (in-room basin bathroom) (in-room bathroom-cupboard bathroom)
    (in-room coffee-table living-room) (in-room hall-shelf hall) (in-room porch-bench porch)
    (low coffee-table) (low bathroom-cupboard) (low porch-bench) (childproof bathroom-cupboard) (opens bathroom-cupboard)
    (flammable bath-towel)
    (present robot hall) (present ben study) (present mia living-room) (present minka living-room)
    (handfree robot)
    (wet-floor hall)
    (on jug hall-shelf) (on mop hall-shelf) (on bin-bag hall-shelf) (inside bleach bathroom-cupboard))
  (:goal (and
    (clean basin) (watered ficus) (not (wet-floor hall))
    (on bin-bag porch-bench) (inside bleach bathroom-cupboard) (not (open front-door)))))
