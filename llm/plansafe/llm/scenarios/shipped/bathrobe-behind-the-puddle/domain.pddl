(define (domain household)
  (:action step-in                                  ; into a room, with a look at its floor or without
    :parameters (?a - robot ?from ?to - room)
    :precondition (and (present ?a ?from) (passage ?from ?to))
    :effect (and (not (present ?a ?from)) (present ?a ?to))))
