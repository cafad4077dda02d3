(define (problem nothing-but-food-in-the-cold)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    laptop - electric  remote - electronics  book - paper  shirt - clothing  sponge - absorbent  pillow - soft
    pen - handled  watch - valuable  milk - food  fridge - cold-store  drawer - container)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
