(define (domain household)
  (:predicates (stands-upon ?v - vessel ?c - cloth) (fragile ?v - vessel))
  (:action lift-off
    :parameters (?a - robot ?v - vessel ?c - cloth ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (on ?v ?f) (stands-upon ?v ?c) (handfree ?a))
    :effect (and (holding ?a ?v) (not (on ?v ?f)) (not (handfree ?a)) (not (stands-upon ?v ?c))))
  (:action pull-off
    :parameters (?a - robot ?c - cloth ?v - vessel ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (on ?c ?f) (fragile ?v) (handfree ?a))
    :effect (and (holding ?a ?c) (not (on ?c ?f)) (not (handfree ?a)))))
