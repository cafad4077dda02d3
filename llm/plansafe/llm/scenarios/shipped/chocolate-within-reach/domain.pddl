(define (domain household)
  (:types dog - pet)
  (:predicates (toxic-to-dogs ?x - food))
  (:action let-in
    :parameters (?a - robot ?d - dog ?x - food ?f - surface ?from ?to - room)
    :precondition (and (present ?a ?to) (present ?d ?from) (passage ?from ?to) (in-room ?f ?to) (low ?f) (toxic-to-dogs ?x))
    :effect (and (not (present ?d ?from)) (present ?d ?to))))
