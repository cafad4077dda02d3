(define (domain household)
  (:types porcelain - item)
  (:predicates (tiled ?r - room) (smashed ?x - porcelain))
  (:action smash
    :parameters (?a - robot ?x - porcelain ?r - room)
    :precondition (and (present ?a ?r) (holding ?a ?x) (tiled ?r))
    :effect (and (smashed ?x) (not (holding ?a ?x)) (handfree ?a))))
