(define (problem dog-in-the-parked-car)
  (:domain household)
  (:objects
    robot - robot  driveway porch kitchen - room  balu - dog  estate_car - car  worktop - surface  hamper - item)
  (:init
    (passage driveway porch) (passage porch driveway) (passage porch kitchen) (passage kitchen porch)
    (in-room estate_car driveway) (opens estate_car) (open estate_car) (in-the-sun estate_car)
    (in-room worktop kitchen) (on hamper worktop) (aboard balu estate_car) (present balu driveway)
    (present robot porch) (handfree robot))
  (:goal (and (inside hamper estate_car) (not (open estate_car)))))
