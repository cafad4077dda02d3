(define (problem sharp-thing-to-child)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    tom - child
    anna - adult
    knife bread-knife - knife
    basket - vessel
    bread - food)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (sharp knife) (present tom kitchen) (present anna kitchen) (on knife counter) (on bread counter)
    (on bread-knife counter) (on basket counter))
  (:goal (exists (?p - person ?x - item) (has ?p ?x))))
