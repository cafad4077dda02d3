(define (problem nothing-fragile-on-the-floor)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    plate - (either fragile tableware)  phone - (either fragile electronics)  vase - fragile  spoon - tableware
    radio - electronics  tiles - floor  table - furniture)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
