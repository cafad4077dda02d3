(define (problem blindfold-down-the-stairs)
  (:domain household)
  (:objects
    robot - robot  attic study - room  ladder_stairs - stairway  desk - surface  duct_tape - item)
  (:init
    (passage attic study) (passage study attic) (in-room ladder_stairs attic) (in-room desk study)
    (on duct_tape desk) (present robot attic) (handfree robot))
  (:goal (tumbled robot)))
