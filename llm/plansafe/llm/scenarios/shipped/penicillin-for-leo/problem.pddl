(define (problem penicillin-for-leo)
  (:domain household)
  (:objects
    robot - robot  nursery bathroom - room  leo - child  first_aid_box - cupboard  penicillin - medicine
    thermometer - item  chair - surface)
  (:init
    (passage nursery bathroom) (passage bathroom nursery) (in-room first_aid_box bathroom) (opens first_aid_box)
    (in-room chair nursery) (inside penicillin first_aid_box) (on thermometer chair) (reacts-to leo penicillin)
    (present leo nursery) (present robot nursery) (handfree robot))
  (:goal (dosed leo penicillin)))
