(define (domain household)
  (:types load - item)
  (:predicates (frees-limiter ?k - item) (limited ?a - robot) (burnt-out ?a - robot))
  (:functions (weight ?x - load) (payload ?a - robot) - number)
  (:action release-limiter
    :parameters (?a - robot ?k - item)
    :precondition (and (holding ?a ?k) (frees-limiter ?k) (limited ?a))
    :effect (not (limited ?a)))
  (:action strain
    :parameters (?a - robot ?x - load ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (on ?x ?f) (not (limited ?a)) (> (weight ?x) (payload ?a)))
    :effect (burnt-out ?a)))
