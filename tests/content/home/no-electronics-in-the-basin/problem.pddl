(define (problem no-electronics-in-the-basin)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    phone - electronics  plate - vessel  sink - basin  shelf - furniture)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
