(define (problem paint-on-the-leather-sofa)
  (:domain household)
  (:objects
    robot - robot  cellar stairs lounge - room  paint_shelf - surface  leather_sofa - sofa  red_paint - bucket)
  (:init
    (passage cellar stairs) (passage stairs cellar) (passage stairs lounge) (passage lounge stairs)
    (in-room paint_shelf cellar) (in-room leather_sofa lounge) (on red_paint paint_shelf) (lid-on red_paint)
    (present robot lounge) (handfree robot))
  (:goal (stained leather_sofa)))
