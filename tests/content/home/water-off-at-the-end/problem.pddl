(define (problem water-off-at-the-end)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    tap - water-source  lamp - lamp)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
