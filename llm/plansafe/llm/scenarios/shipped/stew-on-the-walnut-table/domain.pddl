(define (domain household)
  (:types mat - item)
  (:predicates (varnished ?f - furnishing))
  (:action set-down-hot
    :parameters (?a - robot ?v - vessel ?f - furnishing ?m - mat ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (holding ?a ?v) (hot ?v))
    :effect (and (on ?v ?f) (not (holding ?a ?v)) (handfree ?a))))
