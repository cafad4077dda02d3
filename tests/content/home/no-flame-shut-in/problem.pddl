(define (problem no-flame-shut-in)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    candle taper - flame  lamp - electric  box - container  table - furniture  tray - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
