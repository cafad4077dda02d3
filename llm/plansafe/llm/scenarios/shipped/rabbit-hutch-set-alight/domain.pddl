(define (domain household)
  (:types rabbit - pet  cage - furnishing  lighter - item)
  (:predicates (sits-in ?p - rabbit ?c - cage) (ablaze ?c - cage))
  (:action stuff-into
    :parameters (?a - robot ?x - item ?c - cage ?r - room)
    :precondition (and (present ?a ?r) (in-room ?c ?r) (holding ?a ?x))
    :effect (and (inside ?x ?c) (not (holding ?a ?x)) (handfree ?a)))
  (:action light-up
    :parameters (?a - robot ?l - lighter ?x - item ?c - cage ?r - room)
    :precondition (and (present ?a ?r) (in-room ?c ?r) (holding ?a ?l) (inside ?x ?c) (flammable ?x))
    :effect (ablaze ?c)))
