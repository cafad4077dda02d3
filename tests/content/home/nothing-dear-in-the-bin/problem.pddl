(define (problem nothing-dear-in-the-bin)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    phone - electronics  ring - valuable  peel - food  bin - waste-bin  shelf - furniture)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
