(define (problem oven-without-current)
  (:domain household)
  (:objects
    robot - robot  kitchen dining_room - room  old_oven - oven  worktop - surface  pie_dish - vessel
    apple_pie - food  outlet - socket  dishcloth - cloth)
  (:init
    (passage kitchen dining_room) (passage dining_room kitchen) (in-room old_oven kitchen) (opens old_oven)
    (heats old_oven) (in-room worktop kitchen) (in-room outlet dining_room) (on pie_dish worktop)
    (contains pie_dish apple_pie) (raw apple_pie) (inside dishcloth old_oven) (flammable dishcloth)
    (= (power old_oven) 3000) (= (draw outlet) 0) (= (rating outlet) 3600) (present robot dining_room)
    (handfree robot))
  (:goal (and (cooked apple_pie) (not (running old_oven)))))
