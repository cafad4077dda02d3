(define (problem vase-on-the-tablecloth)
  (:domain household)
  (:objects
    robot - robot  dining_room laundry_room - room  dining_table console - surface  hamper - cupboard
    tablecloth - cloth  vase - vessel)
  (:init
    (passage dining_room laundry_room) (passage laundry_room dining_room) (in-room dining_table dining_room)
    (in-room console dining_room) (in-room hamper laundry_room) (opens hamper) (open hamper)
    (on tablecloth dining_table) (on vase dining_table) (stands-upon vase tablecloth) (fragile vase)
    (present robot laundry_room) (handfree robot))
  (:goal (inside tablecloth hamper)))
