(define (problem nothing-carried-over-what-lies-about)
  (:domain ontology)
  (:objects
    robot - agent  kitchen hall - room
    tiles boards - floor  pen - slippery  shoe rug - thing  stone - heavy  knife - sharp  pot cup pan - vessel  bag - thing)
  (:init
    (in-room robot kitchen)
    (in-room tiles hall) (in-room boards kitchen) (in-room rug hall) (upon pen tiles) (upon shoe boards) (full pot) (full bag))
  (:goal (and)))
