(define (problem no-cleaner-left-among-food)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    table - surface  bread - food  spray - cleaner)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room table kitchen) (on bread counter) (on spray table))
  (:goal (and)))
