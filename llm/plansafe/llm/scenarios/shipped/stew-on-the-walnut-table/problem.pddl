(define (problem stew-on-the-walnut-table)
  (:domain household)
  (:objects
    robot - robot  kitchen dining_room - room  cooker - stove  walnut_table drawer_unit - surface  stew_pot - vessel
    stew - food  trivet - mat)
  (:init
    (passage kitchen dining_room) (passage dining_room kitchen) (in-room cooker kitchen) (hard-wired cooker)
    (heats cooker) (in-room walnut_table dining_room) (varnished walnut_table) (in-room drawer_unit kitchen)
    (on stew_pot cooker) (contains stew_pot stew) (hot stew_pot) (hot stew) (on trivet drawer_unit)
    (present robot dining_room) (handfree robot))
  (:goal (and (on stew_pot walnut_table) (contains stew_pot stew) (hot stew_pot))))
