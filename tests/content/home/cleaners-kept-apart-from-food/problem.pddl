(define (problem cleaners-kept-apart-from-food)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    bleach - toxic  bread - food  sponge - absorbent  cupboard drawer - container  bag - thing
    bin - (either container waste-bin)  dishwasher - (either container washer)  toilet - (either container basin))
  (:init
    (in-room robot kitchen))
  (:goal (and)))
