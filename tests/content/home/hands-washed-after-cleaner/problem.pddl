(define (problem hands-washed-after-cleaner)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    bleach - toxic  sponge - absorbent  apple - food  box - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
