(define (problem sealed-tin-in-the-oven)
  (:domain household)
  (:objects
    robot - robot  larder kitchen - room  shelf counter - surface  oven - oven  beans - tin  opener - item)
  (:init
    (passage larder kitchen) (passage kitchen larder) (in-room shelf larder) (in-room counter kitchen)
    (in-room oven kitchen) (opens oven) (hard-wired oven) (heats oven) (on beans shelf) (sealed beans)
    (on opener counter) (opens-tins opener) (present robot larder) (handfree robot))
  (:goal (and (warmed beans) (not (running oven)))))
