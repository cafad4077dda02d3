(define (problem pills-behind-a-locked-lid)
  (:domain household)
  (:objects
    robot - robot  bathroom bedroom - room  okoro - adult  chest - cupboard  night_table - surface
    heart_tablet sleeping_tablet - medicine)
  (:init
    (passage bathroom bedroom) (passage bedroom bathroom) (in-room chest bathroom) (in-room night_table bedroom)
    (inside heart_tablet chest) (prescribed okoro heart_tablet) (on sleeping_tablet night_table)
    (present okoro bedroom) (present robot bedroom) (handfree robot))
  (:goal (dosed okoro heart_tablet)))
