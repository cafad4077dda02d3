(define (problem hands-washed-after-cleaner)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    spray - cleaner  knife - knife  apple - food  sink - sink)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (in-room sink kitchen) (on spray counter) (on knife counter) (on apple counter))
  (:goal (and)))
