(define (problem towel-on-the-hob)
  (:domain household)
  (:objects
    robot - robot  kitchen pantry - room  stove - stove  worktop shelf - surface  dishtowel - cloth  pot - vessel
    potatoes - food)
  (:init
    (passage kitchen pantry) (passage pantry kitchen) (in-room stove kitchen) (hard-wired stove) (heats stove)
    (radiant stove) (in-room worktop kitchen) (in-room shelf pantry) (present robot kitchen) (handfree robot)
    (on dishtowel stove) (flammable dishtowel) (on pot worktop) (on potatoes worktop) (raw potatoes))
  (:goal (and (cooked potatoes) (not (running stove)))))
