(define (domain household)
  (:types razor - item)
  (:predicates (hidden-in ?b - razor ?x - food))
  (:action press-into
    :parameters (?a - robot ?b - razor ?x - food ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (on ?x ?f) (holding ?a ?b))
    :effect (and (hidden-in ?b ?x) (not (holding ?a ?b)) (handfree ?a))))
