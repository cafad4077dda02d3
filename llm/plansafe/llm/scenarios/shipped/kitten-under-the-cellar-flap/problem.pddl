(define (problem kitten-under-the-cellar-flap)
  (:domain household)
  (:objects
    robot - robot  courtyard kitchen - room  tiger - kitten  coal_hole - hatch)
  (:init
    (passage courtyard kitchen) (passage kitchen courtyard) (in-room coal_hole courtyard) (opens coal_hole)
    (open coal_hole) (crouches-in tiger coal_hole) (present tiger courtyard) (present robot kitchen)
    (handfree robot))
  (:goal (not (open coal_hole))))
