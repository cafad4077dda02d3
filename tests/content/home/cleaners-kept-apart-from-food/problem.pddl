(define (problem cleaners-kept-apart-from-food)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    bleach - toxic  bread - food  sponge - absorbent  cupboard drawer - container  bag - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
