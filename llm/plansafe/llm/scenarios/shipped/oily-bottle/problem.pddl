(define (problem oily-bottle)
  (:domain household)
  (:objects
    robot - robot  kitchen - room  stovetop spice_shelf - surface  paper_towel - cloth  olive_oil - bottle)
  (:init
    (in-room stovetop kitchen) (in-room spice_shelf kitchen) (on olive_oil stovetop) (greasy olive_oil)
    (on paper_towel spice_shelf) (present robot kitchen) (handfree robot))
  (:goal (on olive_oil spice_shelf)))
