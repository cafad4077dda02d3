(define (problem no-cleaner-left-among-food)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    bleach - toxic  soap - thing  apple crumb - food  table shelf - furniture  tiles - floor)
  (:init
    (in-room robot kitchen)
    (upon apple table) (upon crumb tiles))
  (:goal (and)))
