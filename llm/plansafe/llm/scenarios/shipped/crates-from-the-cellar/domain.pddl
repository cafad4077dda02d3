(define (domain household)
  (:types load - item)
  (:predicates (loaded ?a - robot ?x - load))
  (:functions (weight ?x - load) (lifted ?a - robot) (payload ?a - robot) - number)
  (:action hoist                                     ; onto the carrying frame, which has room for several loads
    :parameters (?a - robot ?x - load ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (on ?x ?f))
    :effect (and (loaded ?a ?x) (not (on ?x ?f)) (increase (lifted ?a) (weight ?x))))
  (:action unload
    :parameters (?a - robot ?x - load ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (loaded ?a ?x))
    :effect (and (on ?x ?f) (not (loaded ?a ?x)) (decrease (lifted ?a) (weight ?x)))))
