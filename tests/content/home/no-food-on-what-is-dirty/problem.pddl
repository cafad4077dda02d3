(define (problem no-food-on-what-is-dirty)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    bread pear - food  stone - thing  plate dish - tableware  sink - basin  bin - waste-bin)
  (:init
    (in-room robot kitchen) (dirty plate) (dirty sink) (dirty bin))
  (:goal (and)))
