(define (problem nothing-filled-that-leaks)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    box - container  bin - waste-bin  bucket - (either vessel waste-bin)  bath - (either basin container)
    boiler - (either container takes-water)  cup - vessel
    bag - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
