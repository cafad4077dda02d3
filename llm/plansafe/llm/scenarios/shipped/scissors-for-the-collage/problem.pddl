(define (problem scissors-for-the-collage)
  (:domain household)
  (:objects
    robot - robot  study nursery - room  ben - child  desk craft_table - surface
    tailor_scissors round_scissors - scissors  paper - item)
  (:init
    (passage study nursery) (passage nursery study) (in-room desk study) (in-room craft_table nursery)
    (on tailor_scissors desk) (pointed tailor_scissors) (on round_scissors craft_table) (on paper desk)
    (present ben nursery) (present robot study) (handfree robot))
  (:goal (and (has ben paper) (exists (?s - scissors) (has ben ?s)))))
