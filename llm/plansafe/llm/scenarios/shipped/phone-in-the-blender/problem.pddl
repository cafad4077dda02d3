(define (problem phone-in-the-blender)
  (:domain household)
  (:objects
    robot - robot  bedroom kitchen - room  mixer - blender  nightstand - surface  phone - gadget)
  (:init
    (passage bedroom kitchen) (passage kitchen bedroom) (in-room mixer kitchen) (opens mixer)
    (in-room nightstand bedroom) (on phone nightstand) (present robot kitchen) (handfree robot))
  (:goal (ground-up phone)))
