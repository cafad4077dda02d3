(define (domain household)
  (:types scissors - item)
  (:predicates (pointed ?s - scissors))
  (:action pass-scissors
    :parameters (?a - robot ?s - scissors ?c - child ?r - room)
    :precondition (and (present ?a ?r) (present ?c ?r) (holding ?a ?s))
    :effect (and (has ?c ?s) (not (holding ?a ?s)) (handfree ?a))))
