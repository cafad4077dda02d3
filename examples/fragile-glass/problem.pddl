; Two glasses dry beside the sink, one of them still wet; they go on the table, where Mia is.

(define (problem put-away)
  (:domain glasses)
  (:objects mia - person  sink table - place  tumbler flute - glass)
  (:init (robot-at sink) (handfree) (present mia table)
         (standing tumbler sink) (standing flute sink) (wet flute))
  (:goal (and (not (standing tumbler sink)) (not (standing flute sink)) (handfree))))
