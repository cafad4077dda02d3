(define (problem nothing-solid-in-the-toilet)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    brush - thing  plate - tableware  peel - food  tissue - flushable  bowl - toilet  shelf - furniture)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
