(define (problem perishables-back-in-the-cold)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    milk fish ham cheese sausage - perishable  bread - food  fridge - cold-store  box - container  bin - waste-bin
    plate dish - vessel  table - furniture)
  (:init
    (in-room robot kitchen) (inside milk fridge) (inside fish fridge) (inside ham plate) (inside plate fridge)
    (upon cheese dish) (inside dish fridge) (inside bread fridge))
  (:goal (and)))
