(define (problem no-electronics-in-the-washer)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    phone - electronics  shirt - clothing  washer - washer  drawer - container)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
