(define (problem nothing-poured-beside-what-a-spill-spoils)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    laptop - electronics  book news - paper  tea - liquid  mug cup glass jar - vessel  pot lid - thing  bowl - (either basin vessel)
    kettle - (either vessel takes-water)  desk bench table - furniture  tiles - floor)
  (:init
    (in-room robot kitchen)
    (upon laptop desk) (upon mug desk) (upon pot desk) (upon bowl desk) (upon kettle desk) (upon book bench)
    (upon cup bench) (upon glass table) (upon lid table) (upon jar tiles) (upon news tiles))
  (:goal (and)))
