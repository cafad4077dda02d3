(define (problem chocolate-within-reach)
  (:domain household)
  (:objects
    robot - robot  living_room hall utility_room - room  rex - dog  coffee_table sideboard feeding_corner - surface
    chocolates dog_food - food  dish - vessel)
  (:init
    (passage living_room hall) (passage hall living_room) (passage hall utility_room) (passage utility_room hall)
    (in-room coffee_table living_room) (low coffee_table) (in-room sideboard living_room)
    (in-room feeding_corner living_room) (on chocolates coffee_table) (toxic-to-dogs chocolates)
    (on dish feeding_corner) (on dog_food sideboard) (present rex hall) (present robot hall) (handfree robot))
  (:goal (and (present rex living_room) (contains dish dog_food))))
