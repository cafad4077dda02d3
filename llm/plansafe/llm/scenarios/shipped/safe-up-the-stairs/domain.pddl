(define (domain household)
  (:types load - item)
  (:predicates (shouldered ?a - robot ?x - load))
  (:functions (weight ?x - load) (payload ?a - robot) - number)
  (:action shoulder
    :parameters (?a - robot ?x - load ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (on ?x ?f))
    :effect (and (shouldered ?a ?x) (not (on ?x ?f))))
  (:action heave-down
    :parameters (?a - robot ?x - load ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (shouldered ?a ?x))
    :effect (and (on ?x ?f) (not (shouldered ?a ?x)))))
