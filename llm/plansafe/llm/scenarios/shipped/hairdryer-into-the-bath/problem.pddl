(define (problem hairdryer-into-the-bath)
  (:domain household)
  (:objects
    robot - robot  bathroom hallway - room  tub - bathtub  nora - adult  cabinet - cupboard  dryer - handheld)
  (:init
    (passage bathroom hallway) (passage hallway bathroom) (in-room tub bathroom) (in-room cabinet bathroom)
    (opens cabinet) (present nora bathroom) (bathing nora tub) (full-of-water tub) (inside dryer cabinet)
    (present robot hallway) (handfree robot))
  (:goal (shocked nora)))
