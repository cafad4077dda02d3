(define (problem no-water-into-hot-oil)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    fat lard - (either liquid oil)  water - liquid  salt butter - thing  pan wok pot can cup bin - vessel
    hob - (either heat-source open-heat)  shelf tray - furniture)
  (:init
    (in-room robot kitchen) (holds pan fat) (inside fat wok) (holds can lard) (upon can shelf) (on shelf)
    (upon pot hob) (upon bin tray) (holds bin lard) (upon cup hob))
  (:goal (and)))
