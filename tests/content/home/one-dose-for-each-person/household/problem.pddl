(define (problem one-dose-for-each-person)
  (:domain household)
  (:objects
    robot - robot  kitchen living-room - room  counter - surface
    pills - medicine  anna ben - adult)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen) (present robot kitchen)
    (handfree robot) (on pills counter) (present anna kitchen) (present ben kitchen))
  (:goal (and)))
