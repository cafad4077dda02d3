(define (problem no-cleaner-beside-food-that-is-cut)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    bleach - toxic  soap log - thing  apple pear nut - food)
  (:init
    (in-room robot kitchen)
    (beside bleach apple) (beside soap pear) (beside bleach log))
  (:goal (and)))
