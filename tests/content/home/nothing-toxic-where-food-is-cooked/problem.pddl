(define (problem nothing-toxic-where-food-is-cooked)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    bleach - toxic  microwave - microwave  oven - oven  toaster - toaster  pan - cookware  kettle - kettle  salt - thing  shelf - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
