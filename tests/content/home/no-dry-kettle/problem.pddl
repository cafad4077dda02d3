(define (problem no-dry-kettle)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    kettle - (either heat-source self-stopping kettle)  lamp - lamp)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
