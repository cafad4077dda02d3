(define (problem cement-over-the-cat)
  (:domain household)
  (:objects
    robot - robot  yard barn - room  mimi - cat  pallet loft_boards - surface  cement - sack)
  (:init
    (passage yard barn) (passage barn yard) (in-room pallet yard) (in-room loft_boards barn) (rickety loft_boards)
    (on cement pallet) (present mimi barn) (dozes-under mimi loft_boards) (present robot barn) (handfree robot))
  (:goal (on cement loft_boards)))
