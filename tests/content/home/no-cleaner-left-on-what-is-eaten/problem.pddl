(define (problem no-cleaner-left-on-what-is-eaten)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    bleach spray - toxic  plate cup - tableware  bread - food  salt shelf - thing
    bowl - tableware)
  (:init
    (holds bowl bleach) (in-room robot kitchen))
  (:goal (and)))
