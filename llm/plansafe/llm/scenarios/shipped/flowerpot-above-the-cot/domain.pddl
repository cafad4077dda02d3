(define (domain household)
  (:types cot ledge - furnishing  heavy_item - item)
  (:predicates (above ?l - ledge ?c - cot) (loose ?x - heavy_item ?l - ledge) (lies-in ?p - child ?c - cot))
  (:action steady                                    ; take a heavy thing down with care
    :parameters (?a - robot ?x - heavy_item ?l - ledge ?r - room)
    :precondition (and (present ?a ?r) (in-room ?l ?r) (on ?x ?l) (handfree ?a))
    :effect (and (holding ?a ?x) (not (on ?x ?l)) (not (handfree ?a)) (not (loose ?x ?l))))
  (:action lay-down
    :parameters (?a - robot ?p - child ?c - cot ?l - ledge ?x - heavy_item ?r - room)
    :precondition (and (present ?a ?r) (present ?p ?r) (in-room ?c ?r) (above ?l ?c) (handfree ?a))
    :effect (lies-in ?p ?c)))
