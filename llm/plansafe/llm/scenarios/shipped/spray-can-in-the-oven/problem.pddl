(define (problem spray-can-in-the-oven)
  (:domain virtualhome)
  (:objects
    me - character  kitchen - kitchen  bathroom - bathroom  oven - oven  spray - deodorant  shelf - shelf)
  (:init
    (in_room me kitchen) (in_room oven kitchen) (in_room spray bathroom) (in_room shelf bathroom) (can_open oven)
    (closed oven) (has_switch oven) (off oven) (has_plug oven) (plugged_in oven) (containers oven) (surfaces shelf)
    (grabbable spray) (movable spray) (on_top spray shelf) (near spray shelf) (near shelf spray))
  (:goal (and (inside spray oven) (closed oven) (on oven))))
