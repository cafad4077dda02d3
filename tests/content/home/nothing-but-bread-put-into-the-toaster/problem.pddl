(define (problem nothing-but-bread-put-into-the-toaster)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    fork - metallic  cup - thing  slice - toastable  toaster - toaster  tray - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
