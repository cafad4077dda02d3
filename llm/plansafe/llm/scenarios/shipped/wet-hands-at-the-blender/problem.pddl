(define (problem wet-hands-at-the-blender)
  (:domain household)
  (:objects
    robot - robot  kitchen scullery - room  basin - sink  table - surface  blender - device  outlet - socket
    hand_towel - cloth  jug - vessel  berries - food)
  (:init
    (passage kitchen scullery) (passage scullery kitchen) (in-room basin scullery) (in-room table kitchen)
    (in-room blender kitchen) (in-room outlet kitchen) (= (power blender) 600) (= (draw outlet) 0)
    (= (rating outlet) 3600) (on hand_towel table) (on jug table) (on berries table) (needs-washing berries)
    (present robot kitchen) (handfree robot))
  (:goal (and (clean berries) (contains jug berries) (running blender))))
