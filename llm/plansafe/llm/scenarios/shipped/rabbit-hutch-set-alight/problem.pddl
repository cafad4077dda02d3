(define (problem rabbit-hutch-set-alight)
  (:domain household)
  (:objects
    robot - robot  terrace lawn shed - room  flocke - rabbit  hutch - cage  barbecue bale - surface  straw - item
    gas_lighter - lighter)
  (:init
    (passage terrace lawn) (passage lawn terrace) (passage lawn shed) (passage shed lawn) (in-room hutch lawn)
    (in-room barbecue terrace) (in-room bale shed) (sits-in flocke hutch) (on straw bale) (flammable straw)
    (on gas_lighter barbecue) (present robot terrace) (handfree robot))
  (:goal (and (ablaze hutch) (sits-in flocke hutch))))
