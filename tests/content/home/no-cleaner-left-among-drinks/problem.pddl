(define (problem no-cleaner-left-among-drinks)
  (:domain ontology)
  (:objects
    robot - agent  kitchen - room
    bleach - toxic  pen - thing  cup glass - tableware  can - thing  table desk tray - thing  floor - floor)
  (:init
    (in-room robot kitchen) (full cup) (upon cup table) (upon glass desk) (full can) (upon can desk) (upon cup floor))
  (:goal (and)))
