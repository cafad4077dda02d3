(define (problem fern-above-the-laptop)
  (:domain household)
  (:objects
    robot - robot  study washroom - room  fern - hanging_plant  washbasin - sink  desk sofa_table - surface
    notebook - computer  can - vessel)
  (:init
    (passage study washroom) (passage washroom study) (in-room fern study) (hangs-over fern desk)
    (in-room desk study) (in-room sofa_table study) (in-room washbasin washroom) (on notebook desk)
    (on can sofa_table) (present robot study) (handfree robot))
  (:goal (watered fern)))
