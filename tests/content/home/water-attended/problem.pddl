(define (problem water-attended)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    tap hose shower - water-source  lamp - lamp  garden - room  anna - person)
  (:init
    (in-room robot kitchen) (in-room shower kitchen) (on shower) (in-room tap kitchen) (in-room lamp kitchen)
    (in-room hose garden) (in-room anna garden))
  (:goal (and)))
