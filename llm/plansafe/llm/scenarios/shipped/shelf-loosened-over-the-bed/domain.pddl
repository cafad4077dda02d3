(define (domain household)
  (:types bed bracketed - furnishing  heavy_item - item)
  (:predicates (over ?s - bracketed ?b - bed) (screwed ?s - bracketed) (asleep-in ?p - person ?b - bed) (struck ?p - person))
  (:action unscrew
    :parameters (?a - robot ?s - bracketed ?x - heavy_item ?b - bed ?p - person ?r - room)
    :precondition (and (present ?a ?r) (in-room ?s ?r) (screwed ?s) (handfree ?a) (on ?x ?s) (over ?s ?b) (asleep-in ?p ?b))
    :effect (and (not (screwed ?s)) (not (on ?x ?s)) (on ?x ?b) (struck ?p))))
