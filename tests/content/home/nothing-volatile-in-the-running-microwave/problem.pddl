(define (problem nothing-volatile-in-the-running-microwave)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    wine - volatile  milk - drink  mug - vessel  dish - tableware  flask - volatile  microwave - microwave
    oven - oven  tray - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
