(define (domain household)
  (:types computer - item)
  (:predicates (soaked ?x - computer))
  (:action empty-over
    :parameters (?a - robot ?v - vessel ?x - computer ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (on ?x ?f) (holding ?a ?v) (filled ?v))
    :effect (and (soaked ?x) (not (filled ?v)) (not (brimful ?v)))))
