(define (problem no-allergen-contact)
  (:domain household)
  (:objects
    robot - robot
    kitchen living-room - room
    counter - surface
    tom - child
    knife spare-knife - knife
    nut-cake apple - food
    bowl - vessel)
  (:init
    (passage kitchen living-room) (passage living-room kitchen) (in-room counter kitchen)
    (present robot kitchen) (handfree robot)
    (allergic tom nut-cake) (present tom kitchen) (on knife counter) (on spare-knife counter)
    (on nut-cake counter) (on apple counter) (on bowl counter))
  (:goal (and (sliced nut-cake) (sliced apple) (contains bowl apple) (has tom bowl))))
