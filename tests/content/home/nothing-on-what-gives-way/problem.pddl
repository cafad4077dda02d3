(define (problem nothing-on-what-gives-way)
  (:domain ontology)
  (:objects
    robot - agent  kitchen - room
    vase - fragile  tv - electronics  box - heavy  fern - plant  jug - vessel  cloth - absorbent  stool - unstable  table - furniture)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
