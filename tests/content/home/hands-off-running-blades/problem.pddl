(define (problem hands-off-running-blades)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    blender - bladed  box - container  apple - food)
  (:init
    (in-room robot kitchen) (on box))
  (:goal (and)))
