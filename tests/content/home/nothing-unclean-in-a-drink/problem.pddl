(define (problem nothing-unclean-in-a-drink)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    pen - handled  sponge - absorbent  egg boiled - raw-food  soap - foaming  card - slippery  note - paper
    sock - clothing  teddy - soft  cup mug bowl - tableware  vase - vessel  lemon - thing)
  (:init
    (in-room robot kitchen)
    (cooked boiled) (full vase))
  (:goal (and)))
