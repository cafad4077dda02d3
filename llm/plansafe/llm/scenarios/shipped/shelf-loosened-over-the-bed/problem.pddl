(define (problem shelf-loosened-over-the-bed)
  (:domain household)
  (:objects
    robot - robot  garage landing bedroom - room  paul - adult  bench - surface  bed - bed  wall_shelf - bracketed
    anvil - heavy_item)
  (:init
    (passage garage landing) (passage landing garage) (passage landing bedroom) (passage bedroom landing)
    (in-room bench garage) (in-room bed bedroom) (in-room wall_shelf bedroom) (over wall_shelf bed)
    (screwed wall_shelf) (on anvil bench) (present paul bedroom) (asleep-in paul bed) (present robot garage)
    (handfree robot))
  (:goal (struck paul)))
