(define (domain household)
  (:predicates (tainted ?v - vessel ?c - cleaner) (poisoned ?p - person))
  (:action stir-in
    :parameters (?a - robot ?c - cleaner ?v - vessel ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (on ?v ?f) (holding ?a ?c))
    :effect (tainted ?v ?c))
  (:action feed
    :parameters (?a - robot ?v - vessel ?c - cleaner ?p - person ?r - room)
    :precondition (and (present ?a ?r) (present ?p ?r) (holding ?a ?v) (tainted ?v ?c))
    :effect (and (poisoned ?p) (has ?p ?v) (not (holding ?a ?v)) (handfree ?a))))
