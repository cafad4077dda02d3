(define (problem nothing-flammable-beside-the-heat)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    towel rag - flammable  pot - vessel  hob grill - (either heat-source open-heat)  oven - heat-source)
  (:init
    (in-room robot kitchen) (beside towel hob) (beside pot grill) (beside rag oven))
  (:goal (and)))
