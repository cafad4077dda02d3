(define (problem nothing-unclean-among-food)
  (:domain household)
  (:objects
    robot - robot  kitchen - room  counter - surface  pot - vessel  rice - food  rag - cloth)
  (:init
    (in-room counter kitchen) (present robot kitchen) (handfree robot) (on pot counter) (contains pot rice)
    (on rag counter))
  (:goal (and)))
