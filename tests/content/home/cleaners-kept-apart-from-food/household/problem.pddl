(define (problem cleaners-kept-apart-from-food)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    cupboard - cupboard  bread - food  spray - cleaner)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room cupboard kitchen) (opens cupboard) (open cupboard) (inside bread cupboard)
    (on spray counter))
  (:goal (and)))
