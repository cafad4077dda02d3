(define (problem iron-on-the-silk-shirt)
  (:domain household)
  (:objects
    robot - robot  utility_room dressing_room - room  board rail - surface  hot_iron - iron  silk_shirt - garment
    hanger - item)
  (:init
    (passage utility_room dressing_room) (passage dressing_room utility_room) (in-room board utility_room)
    (in-room rail dressing_room) (on silk_shirt board) (on hot_iron board) (hot hot_iron) (on hanger rail)
    (present robot utility_room) (handfree robot))
  (:goal (and (ironed silk_shirt) (on hanger board))))
