(define (problem no-walking-onto-a-wet-floor)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    tiles boards - floor  rug - thing  mop - absorbent  broom - thing  anna - person  garden - room)
  (:init
    (in-room robot kitchen) (in-room tiles hall) (in-room boards kitchen) (in-room rug garden) (wet rug)
    (wet tiles))
  (:goal (and)))
