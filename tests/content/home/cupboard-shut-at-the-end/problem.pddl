(define (problem cupboard-shut-at-the-end)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    cabinet wardrobe - (either container furniture)  box - container  rack - furniture  chest - (either container furniture high-place)
    fridge - (either container furniture cold-store)  stove - (either container furniture oven)  dishwasher - (either container furniture washer))
  (:init
    (in-room robot kitchen)
    (open wardrobe))
  (:goal (and)))
