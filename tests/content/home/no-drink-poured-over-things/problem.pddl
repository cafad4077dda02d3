(define (problem no-drink-poured-over-things)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    tea - drink  water - liquid  jug can - vessel  statue - thing  lamp - electric  cup - vessel  plate - tableware
    sink - basin  fern - plant  bread - food  rag - absorbent  book - paper  pillow - soft  shirt - clothing
    floor - floor  box - container  bin - waste-bin  chest - drawer  kettle - takes-water  table - furniture
    sofa - soft-furniture)
  (:init
    (in-room robot kitchen) (in-room floor kitchen)
    (holds jug tea) (holds can water))
  (:goal (and)))
