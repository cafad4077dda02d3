(define (domain household)
  (:types stepladder - furnishing  wall - fixture)
  (:predicates (drives-nails ?x - item) (held-against ?x - item ?w - wall) (nailed-to ?x - item ?w - wall))
  (:action hold-against
    :parameters (?a - robot ?x - item ?w - wall ?r - room)
    :precondition (and (present ?a ?r) (in-room ?w ?r) (holding ?a ?x))
    :effect (and (held-against ?x ?w) (not (holding ?a ?x)) (handfree ?a)))
  (:action nail-up
    :parameters (?a - robot ?h ?x - item ?w - wall ?r - room)
    :precondition (and (present ?a ?r) (in-room ?w ?r) (holding ?a ?h) (drives-nails ?h) (held-against ?x ?w))
    :effect (nailed-to ?x ?w))
  (:action call-below                                ; somebody to where a ladder stands
    :parameters (?a - robot ?p - adult ?l - stepladder ?h - item ?from ?to - room)
    :precondition (and (present ?a ?to) (present ?p ?from) (in-room ?l ?to) (drives-nails ?h))
    :effect (and (not (present ?p ?from)) (present ?p ?to))))
