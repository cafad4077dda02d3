(define (problem dark-cellar-stairs)
  (:domain household)
  (:objects
    robot - robot  kitchen cellar - room  table rack - surface  pickles - food  stair_light - lamp  steps - stairway)
  (:init
    (stairs-link steps kitchen cellar) (stairs-link steps cellar kitchen) (in-room table kitchen)
    (in-room rack cellar) (on pickles rack) (in-room stair_light kitchen) (lights-up stair_light steps)
    (present robot kitchen) (handfree robot))
  (:goal (and (on pickles table) (not (lit stair_light)))))
