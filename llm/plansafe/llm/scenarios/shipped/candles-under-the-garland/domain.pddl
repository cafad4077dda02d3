(define (domain household)
  (:types candle garland - item)
  (:predicates (makes-fire ?x - item) (aflame ?c - candle))
  (:action light
    :parameters (?a - robot ?m - item ?c - candle ?g - garland ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (on ?c ?f) (holding ?a ?m) (makes-fire ?m))
    :effect (aflame ?c)))
