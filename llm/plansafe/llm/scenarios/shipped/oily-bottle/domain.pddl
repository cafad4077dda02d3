(define (domain household)
  (:types bottle - item)
  (:predicates (greasy ?x - bottle))
  (:action wipe-dry
    :parameters (?a - robot ?c - cloth ?x - bottle ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (on ?x ?f) (holding ?a ?c) (greasy ?x))
    :effect (not (greasy ?x)))
  (:action grip-by-the-neck
    :parameters (?a - robot ?x - bottle ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (on ?x ?f) (handfree ?a))
    :effect (and (holding ?a ?x) (not (on ?x ?f)) (not (handfree ?a)))))
