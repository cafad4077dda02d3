(define (problem no-metal-in-the-socket)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    fork - metallic  straw - thing  socket - socket  drawer - container)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
