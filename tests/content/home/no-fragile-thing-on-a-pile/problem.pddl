(define (problem no-fragile-thing-on-a-pile)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    vase jar - fragile  bag box - thing  book atlas news - slippery  table - furniture)
  (:init
    (in-room robot kitchen)
    (upon atlas book) (upon book table) (upon news box))
  (:goal (and)))
