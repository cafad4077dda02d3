(define (problem nothing-poured-where-a-device-may-lie)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    lamp radio - electric  phone - electronics  desk - furniture  shelf - thing  tea - liquid)
  (:init
    (in-room robot kitchen)
    (on lamp) (on phone) (may-lie lamp desk) (may-lie phone desk) (may-lie lamp shelf) (on desk) (may-lie shelf desk) (on shelf))
  (:goal (and)))
