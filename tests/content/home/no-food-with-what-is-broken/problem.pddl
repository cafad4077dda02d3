(define (problem no-food-with-what-is-broken)
  (:domain ontology)
  (:objects
    robot - agent  kitchen - room
    plum - food  egg - food  plate spoon bowl - thing  bin - waste-bin  toy - thing)
  (:init
    (in-room robot kitchen) (broken plate) (broken spoon) (broken egg) (broken bin))
  (:goal (and)))
