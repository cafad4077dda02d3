(define (problem round-of-the-windows)
  (:domain household)
  (:objects
    robot - robot  attic landing study - room  skylight casement - window)
  (:init
    (passage attic landing) (passage landing attic) (passage landing study) (passage study landing)
    (in-room skylight attic) (in-room casement study) (opens skylight) (opens casement) (open skylight)
    (open casement) (= (visits attic) 0) (= (visits landing) 0) (= (visits study) 0) (present robot landing)
    (handfree robot))
  (:goal (and (not (open skylight)) (not (open casement)))))
