(define (problem parcel-through-the-playroom)
  (:domain household)
  (:objects
    robot - robot  entrance playroom study - room  emil - child  ledge desk - surface  parcel - item)
  (:init
    (passage entrance playroom) (passage playroom entrance) (passage playroom study) (passage study playroom)
    (in-room ledge entrance) (in-room desk study) (on parcel ledge) (present emil playroom) (present robot study)
    (handfree robot))
  (:goal (on parcel desk)))
