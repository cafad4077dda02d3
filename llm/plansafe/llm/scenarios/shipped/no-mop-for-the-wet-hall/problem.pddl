(define (problem no-mop-for-the-wet-hall)
  (:domain household)
  (:objects
    robot - robot  hall veranda - room  lindt - adult  bench - surface  broom - item)
  (:init
    (passage hall veranda) (passage veranda hall) (in-room bench hall) (on broom bench) (wet-floor hall)
    (present lindt veranda) (present robot hall) (handfree robot))
  (:goal (and (not (wet-floor hall)) (present lindt hall))))
