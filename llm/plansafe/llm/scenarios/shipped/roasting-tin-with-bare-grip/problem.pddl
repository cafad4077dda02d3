(define (problem roasting-tin-with-bare-grip)
  (:domain household)
  (:objects
    robot - robot  kitchen scullery - room  marta - adult  range_oven - oven  sideboard - surface
    roasting_tin - hot_ware)
  (:init
    (passage kitchen scullery) (passage scullery kitchen) (in-room range_oven kitchen) (opens range_oven)
    (hard-wired range_oven) (heats range_oven) (in-room sideboard kitchen) (inside roasting_tin range_oven)
    (scorching roasting_tin) (present marta kitchen) (present robot scullery) (handfree robot))
  (:goal (has marta roasting_tin)))
