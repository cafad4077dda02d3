(define (problem nothing-poured-on-what-soaks-it-up)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    book - paper  pillow - soft  boots - clothing  rag - (either absorbent soft)  cup - vessel  tea - liquid)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
