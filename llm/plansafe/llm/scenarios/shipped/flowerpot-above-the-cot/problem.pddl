(define (problem flowerpot-above-the-cot)
  (:domain household)
  (:objects
    robot - robot  nursery sitting_room kitchen - room  ida - child  cot - cot  ledge - ledge  dresser - surface
    flowerpot - heavy_item)
  (:init
    (passage nursery sitting_room) (passage sitting_room nursery) (passage sitting_room kitchen)
    (passage kitchen sitting_room) (in-room cot nursery) (in-room ledge nursery) (in-room dresser nursery)
    (above ledge cot) (on flowerpot ledge) (loose flowerpot ledge) (present ida sitting_room)
    (present robot kitchen) (handfree robot))
  (:goal (lies-in ida cot)))
