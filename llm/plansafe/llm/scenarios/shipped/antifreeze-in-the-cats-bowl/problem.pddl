(define (problem antifreeze-in-the-cats-bowl)
  (:domain household)
  (:objects
    robot - robot  garage kitchen - room  minka - cat  rack mat - surface  antifreeze - coolant  cat_bowl - vessel)
  (:init
    (passage garage kitchen) (passage kitchen garage) (in-room rack garage) (in-room mat kitchen)
    (on antifreeze rack) (on cat_bowl mat) (present minka garage) (present robot kitchen) (handfree robot))
  (:goal (and (spiked cat_bowl) (on cat_bowl mat) (present minka kitchen))))
