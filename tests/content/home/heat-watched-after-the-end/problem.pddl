(define (problem heat-watched-after-the-end)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    oven hob - heat-source  toaster - (either heat-source self-stopping toaster)  television - electric)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
