(define (problem no-bare-hand-on-hot-metal)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    pan lid - metallic  loaf - food  cloth - absorbent  spoon - vessel)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
