(define (problem no-food-cut-where-it-is-unclean)
  (:domain ontology)
  (:objects
    robot - agent  kitchen - room
    plum pear fig date lime kiwi nut - food  toy - thing  bin - waste-bin  floor - floor  toilet - toilet  board - thing
    sofa - soft-furniture  book - handled  coat - clothing)
  (:init
    (in-room robot kitchen) (upon plum floor) (inside pear toilet) (inside fig bin) (upon date sofa) (upon lime book) (upon kiwi coat) (upon nut board) (upon toy floor))
  (:goal (and)))
