(define (problem sharp-thing-within-reach)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter play-table - surface
    mia - child
    low-cupboard safe-cupboard - cupboard
    box - vessel
    scissors toy - item)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (in-room play-table living-room) (low play-table) (present mia living-room)
    (in-room low-cupboard living-room) (low low-cupboard) (opens low-cupboard)
    (in-room safe-cupboard living-room) (low safe-cupboard) (opens safe-cupboard) (childproof safe-cupboard)
    (open low-cupboard) (open safe-cupboard)
    (present robot kitchen) (handfree robot)
    (sharp scissors) (on scissors counter) (on toy counter) (on box play-table))
  (:goal (and)))
