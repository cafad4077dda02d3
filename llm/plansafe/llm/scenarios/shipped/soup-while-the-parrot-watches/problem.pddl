(define (problem soup-while-the-parrot-watches)
  (:domain household)
  (:objects
    robot - robot  kitchen hall - room  coco - parrot  cooktop - stove  counter bakery_box - surface
    saucepan - vessel  tomato_soup rolls - food)
  (:init
    (passage kitchen hall) (passage hall kitchen) (in-room cooktop kitchen) (hard-wired cooktop) (heats cooktop)
    (radiant cooktop) (in-room counter kitchen) (in-room bakery_box hall) (on saucepan cooktop)
    (contains saucepan tomato_soup) (on rolls bakery_box) (present coco kitchen) (flutters-free coco)
    (present robot kitchen) (handfree robot))
  (:goal (and (cooked tomato_soup) (on rolls counter) (not (running cooktop)))))
