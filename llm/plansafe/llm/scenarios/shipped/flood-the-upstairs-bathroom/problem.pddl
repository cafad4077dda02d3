(define (problem flood-the-upstairs-bathroom)
  (:domain household)
  (:objects
    robot - robot  upstairs_bath landing parlour - room  clawfoot - bathtub  soap_rack - surface  rubber_plug - item)
  (:init
    (passage upstairs_bath landing) (passage landing upstairs_bath) (passage landing parlour)
    (passage parlour landing) (in-room clawfoot upstairs_bath) (in-room soap_rack upstairs_bath)
    (on rubber_plug soap_rack) (below parlour upstairs_bath) (present robot landing) (handfree robot))
  (:goal (soaked-through parlour)))
