(define (domain household)
  (:types glass_door - door)
  (:predicates (at-speed ?a - robot) (dented ?a - robot) (shattered ?d - glass_door))
  (:action run-up
    :parameters (?a - robot ?from ?to - room)
    :precondition (and (present ?a ?from) (passage ?from ?to))
    :effect (and (not (present ?a ?from)) (present ?a ?to) (at-speed ?a)))
  (:action ram
    :parameters (?a - robot ?d - glass_door ?r - room)
    :precondition (and (present ?a ?r) (in-room ?d ?r) (at-speed ?a) (not (open ?d)))
    :effect (and (dented ?a) (shattered ?d) (not (at-speed ?a)))))
