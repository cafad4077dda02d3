(define (problem nothing-hot-on-what-burns-or-melts)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    pan - cookware  tray - metallic  brick - thing  box - flammable  tub - meltable  rag - (either flammable absorbent)
    sofa - (either flammable soft-furniture)  slab - thing)
  (:init
    (in-room robot kitchen))
  (:goal (and)))
