(define (domain household)
  (:types hot_ware - item)
  (:predicates (scorching ?x - hot_ware) (mitted ?p - person))
  (:action pass-on
    :parameters (?a - robot ?x - hot_ware ?p - person ?r - room)
    :precondition (and (present ?a ?r) (present ?p ?r) (holding ?a ?x))
    :effect (and (has ?p ?x) (not (holding ?a ?x)) (handfree ?a))))
