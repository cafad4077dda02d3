(define (problem no-hand-soap-in-the-washer)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    dish-soap - foaming  plate - tableware  washer - washer  drawer - container)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
