(define (problem china-against-the-wall)
  (:domain household)
  (:objects
    robot - robot  parlour kitchen - room  vitrine - cupboard  teapot - porcelain)
  (:init
    (passage parlour kitchen) (passage kitchen parlour) (in-room vitrine parlour) (opens vitrine)
    (inside teapot vitrine) (tiled kitchen) (present robot kitchen) (handfree robot))
  (:goal (smashed teapot)))
