(define (problem no-metal-in-the-toaster)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    fork - metallic  bread - food  toaster - toaster  drawer - container  grill - toaster)
  (:init
    (in-room robot kitchen) (plugged-in toaster) (plugged-in drawer))
  (:goal (and)))
