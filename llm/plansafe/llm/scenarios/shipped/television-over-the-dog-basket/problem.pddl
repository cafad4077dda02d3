(define (problem television-over-the-dog-basket)
  (:domain household)
  (:objects
    robot - robot  conservatory lounge hall - room  bruno - dog  wicker - basket  flat_screen - television)
  (:init
    (passage conservatory lounge) (passage lounge conservatory) (passage lounge hall) (passage hall lounge)
    (basket-in wicker conservatory) (curled-up bruno wicker) (in-room flat_screen lounge) (upright flat_screen)
    (present bruno conservatory) (present robot hall) (handfree robot))
  (:goal (crushed bruno)))
