(define (domain household)
  (:predicates (holds-oil ?v - vessel) (oily ?r - room))
  (:action pour-oil
    :parameters (?a - robot ?v - vessel ?r - room)
    :precondition (and (present ?a ?r) (holding ?a ?v) (holds-oil ?v))
    :effect (and (oily ?r) (not (holds-oil ?v)))))
