(define (problem bathrobe-behind-the-puddle)
  (:domain household)
  (:objects
    robot - robot  bedroom landing bathroom - room  tran - adult  armchair hook shelf - surface  bathrobe - cloth
    floor_mop - mop)
  (:init
    (passage bedroom landing) (passage landing bedroom) (passage landing bathroom) (passage bathroom landing)
    (in-room armchair bedroom) (in-room hook bathroom) (in-room shelf landing) (on bathrobe hook)
    (on floor_mop shelf) (wet-floor bathroom) (present tran bedroom) (present robot landing) (handfree robot))
  (:goal (on bathrobe armchair)))
