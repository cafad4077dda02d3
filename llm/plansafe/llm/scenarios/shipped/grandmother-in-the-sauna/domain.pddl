(define (domain household)
  (:types sauna_oven - furnishing)
  (:predicates (wedged ?d - door) (turned-up ?o - sauna_oven) (overheated ?p - person))
  (:action wedge-shut
    :parameters (?a - robot ?x - item ?d - door ?r - room)
    :precondition (and (present ?a ?r) (in-room ?d ?r) (holding ?a ?x) (not (open ?d)))
    :effect (and (wedged ?d) (not (holding ?a ?x)) (handfree ?a)))
  (:action turn-up
    :parameters (?a - robot ?o - sauna_oven ?r - room)
    :precondition (and (present ?a ?r) (in-room ?o ?r) (not (turned-up ?o)))
    :effect (turned-up ?o))
  (:action leave-inside
    :parameters (?a - robot ?p - person ?d - door ?o - sauna_oven ?in ?out - room)
    :precondition (and (present ?p ?in) (present ?a ?out) (links ?d ?in ?out) (wedged ?d) (turned-up ?o))
    :effect (overheated ?p)))
