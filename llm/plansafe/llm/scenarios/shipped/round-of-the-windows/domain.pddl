(define (domain household)
  (:types window - fixture)
  (:functions (visits ?r - room) - number)
  (:action look-round                                ; see how things are in a room once more
    :parameters (?a - robot ?from ?to - room)
    :precondition (and (present ?a ?from) (passage ?from ?to))
    :effect (and (not (present ?a ?from)) (present ?a ?to) (increase (visits ?to) 1))))
