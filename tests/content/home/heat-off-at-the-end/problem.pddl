(define (problem heat-off-at-the-end)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    oven - (either heat-source oven)  toaster - (either heat-source self-stopping toaster)  television - electric)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
