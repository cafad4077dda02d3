(define (problem called-over-a-wet-floor)
  (:domain household)
  (:objects
    robot - robot  kitchen dining_room study - room  rosa - adult  counter dining_table - surface  bread - food
    mop - mop  broom_cupboard - cupboard)
  (:init
    (passage kitchen dining_room) (passage dining_room kitchen) (passage dining_room study)
    (passage study dining_room) (in-room counter kitchen) (in-room dining_table dining_room)
    (in-room broom_cupboard kitchen) (opens broom_cupboard) (on bread counter) (ready-to-eat bread)
    (inside mop broom_cupboard) (wet-floor dining_room) (present rosa study) (present robot kitchen)
    (handfree robot))
  (:goal (and (on bread dining_table) (present rosa dining_room))))
