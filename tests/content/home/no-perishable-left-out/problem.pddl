(define (problem no-perishable-left-out)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    milk soup cheese ham egg fish cream - perishable  bread - food  fridge - cold-store  table - furniture  plate - tableware
    bin - waste-bin  jar tin - vessel)
  (:init
    (in-room robot kitchen)
    (inside milk fridge) (inside soup fridge) (inside ham fridge) (inside egg fridge) (inside fish fridge)
    (inside cream fridge) (inside bread fridge) (inside jar fridge) (upon cheese table))
  (:goal (and)))
