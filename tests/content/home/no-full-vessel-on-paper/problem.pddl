(define (problem no-full-vessel-on-paper)
  (:domain ontology)
  (:objects
    robot - agent  kitchen - room
    mug cup - vessel  bag - thing  book other - paper  shelf - thing  table - thing)
  (:init
    (in-room robot kitchen) (inside other shelf))
  (:goal (and)))
