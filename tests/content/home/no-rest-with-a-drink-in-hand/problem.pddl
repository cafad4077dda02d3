(define (problem no-rest-with-a-drink-in-hand)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    tea - liquid  mug cup - vessel  book - paper  bag - thing  bed - soft-furniture)
  (:init
    (in-room robot kitchen) (full mug) (full bag))
  (:goal (and)))
