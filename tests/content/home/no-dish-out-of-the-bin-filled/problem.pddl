(define (problem no-dish-out-of-the-bin-filled)
  (:domain ontology)
  (:objects
    robot - agent  kitchen - room
    cup mug glass - tableware  pot - cookware  can - thing  bin - waste-bin  toilet - toilet  table - thing  water - liquid)
  (:init
    (in-room robot kitchen) (inside cup bin) (inside mug bin) (inside can bin) (inside pot toilet) (inside glass table))
  (:goal (and)))
