(define (problem nothing-but-bread-in-the-toaster)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    potato - food  cup - vessel  slice - toastable  towel - flammable  fork - metallic  pen - meltable
    can - pressurised  phone - electronics  toaster - toaster  tray - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
