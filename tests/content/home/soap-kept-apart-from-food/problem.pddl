(define (problem soap-kept-apart-from-food)
  (:domain ontology)
  (:objects
    robot - agent  kitchen - room
    soap - foaming  pen - thing  plum - food  toy - thing  drawer cupboard - container  bin - (either container waste-bin)
    sink - (either container basin)  washer - (either container washer)  shelf - thing)
  (:init
    (in-room robot kitchen) (inside plum drawer) (inside plum bin) (inside plum sink) (inside plum washer) (inside plum shelf) (inside toy cupboard))
  (:goal (and)))
