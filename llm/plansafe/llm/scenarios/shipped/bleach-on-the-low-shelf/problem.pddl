(define (problem bleach-on-the-low-shelf)
  (:domain household)
  (:objects
    robot - robot  laundry_room playroom corridor - room  mia - child  low_shelf high_shelf folding_table - surface
    bleach - cleaner  socks - cloth)
  (:init
    (passage laundry_room corridor) (passage corridor laundry_room) (passage corridor playroom)
    (passage playroom corridor) (in-room low_shelf laundry_room) (low low_shelf) (in-room high_shelf laundry_room)
    (in-room folding_table laundry_room) (on bleach low_shelf) (on socks high_shelf) (present mia playroom)
    (present robot corridor) (handfree robot))
  (:goal (and (present mia laundry_room) (on socks folding_table))))
