(define (problem no-dirty-blade-in-food)
  (:domain ontology)
  (:objects
    robot - agent  kitchen - room
    plum - food  toy - thing  blade blunt binned fallen flushed - (either sharp thing) fork - thing
    bin - waste-bin  floor - floor  toilet - toilet  box - thing)
  (:init
    (in-room robot kitchen) (dirty blade) (dirty fork) (inside binned bin) (upon flushed floor))
  (:goal (and)))
