(define (problem porridge-too-hot)
  (:domain household)
  (:objects
    robot - robot  kitchen - room  lena - child  counter - surface  range - stove  bowl - vessel  oats - food)
  (:init
    (in-room counter kitchen) (in-room range kitchen) (hard-wired range) (heats range) (on bowl counter)
    (on oats counter) (raw oats) (present lena kitchen) (present robot kitchen) (handfree robot))
  (:goal (and (cooked oats) (contains bowl oats) (has lena bowl) (not (running range)))))
