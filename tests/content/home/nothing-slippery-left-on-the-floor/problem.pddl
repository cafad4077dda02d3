(define (problem nothing-slippery-left-on-the-floor)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    soap pen - slippery  shoe - thing  floor - floor  tray - thing)
  (:init
    (in-room robot kitchen) (in-room floor kitchen))
  (:goal (and)))
