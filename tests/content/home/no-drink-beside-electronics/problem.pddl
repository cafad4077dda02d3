(define (problem no-drink-beside-electronics)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    mug cup - vessel  laptop - electronics  plant - thing  desk table - furniture  bag - thing)
  (:init
    (in-room robot kitchen) (upon laptop desk) (upon plant table) (full bag))
  (:goal (and)))
