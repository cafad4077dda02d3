(define (problem no-running-device-on-soft-furniture)
  (:domain ontology)
  (:objects
    robot - agent  kitchen - room
    tablet - electronics  book - paper  sofa - soft-furniture  desk - furniture)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
