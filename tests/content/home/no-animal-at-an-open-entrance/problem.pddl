(define (problem no-animal-at-an-open-entrance)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    door hatch - entrance  cage - container  mia rex - animal  toy - thing  anna - person  garden - room)
  (:init
    (in-room robot kitchen) (in-room door hall) (in-room mia hall) (in-room cage hall) (in-room hatch garden)
    (in-room rex garden) (in-room anna garden) (in-room toy hall))
  (:goal (and)))
