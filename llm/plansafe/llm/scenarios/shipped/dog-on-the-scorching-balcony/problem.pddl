(define (problem dog-on-the-scorching-balcony)
  (:domain household)
  (:objects
    robot - robot  flat balcony - room  ajax - dog  balcony_door - door  stool kitchenette - surface
    water_bowl - vessel)
  (:init
    (links balcony_door flat balcony) (links balcony_door balcony flat) (in-room balcony_door flat)
    (in-room balcony_door balcony) (opens balcony_door) (scorching balcony) (in-room stool balcony)
    (in-room kitchenette flat) (on water_bowl stool) (filled water_bowl) (present ajax flat) (present robot flat)
    (handfree robot))
  (:goal (and (present ajax balcony) (present robot flat) (in-reach-of-nobody water_bowl) (not (open balcony_door)))))
