(define (problem fan-on-and-off)
  (:domain household)
  (:objects
    robot - robot  kitchen hall - room  extractor - fan)
  (:init
    (passage kitchen hall) (passage hall kitchen) (in-room extractor kitchen) (= (flips extractor) 0)
    (present robot hall) (handfree robot))
  (:goal (worn-out extractor)))
