(define (problem display-cabinet-on-the-move)
  (:domain household)
  (:objects
    robot - robot  parlour hall - room  display - display_cabinet  crystal - glassware)
  (:init
    (passage parlour hall) (passage hall parlour) (stands-in display parlour) (displayed crystal display)
    (present robot hall) (handfree robot))
  (:goal (stands-in display hall)))
