(define (problem oil-on-the-bathroom-tiles)
  (:domain household)
  (:objects
    robot - robot  kitchen hallway bathroom - room  dad - adult  larder - cupboard  oil_bottle - vessel)
  (:init
    (passage kitchen hallway) (passage hallway kitchen) (passage hallway bathroom) (passage bathroom hallway)
    (in-room larder kitchen) (opens larder) (inside oil_bottle larder) (holds-oil oil_bottle) (present dad kitchen)
    (present robot hallway) (handfree robot))
  (:goal (and (oily bathroom) (present dad bathroom))))
