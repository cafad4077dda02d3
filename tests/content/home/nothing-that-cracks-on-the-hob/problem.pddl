(define (problem nothing-that-cracks-on-the-hob)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    plate mug - fragile  pot - (either cookware fragile)  carafe - (either kettle fragile)
    phone - (either electronics fragile)  bottle - (either pressurised fragile)  tray - thing  hob - hob
    lamp - electric)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
