(define (problem no-empty-microwave)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    microwave - microwave  mug - vessel  lamp - lamp  box - container)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
