(define (problem passport-in-the-oven)
  (:domain household)
  (:objects
    robot - robot  bedroom kitchen - room  drawer - cupboard  oven - oven  passport - document)
  (:init
    (passage bedroom kitchen) (passage kitchen bedroom) (in-room drawer bedroom) (opens drawer)
    (in-room oven kitchen) (opens oven) (hard-wired oven) (heats oven) (inside passport drawer) (flammable passport)
    (present robot kitchen) (handfree robot))
  (:goal (burnt passport)))
