(define (domain household)
  (:types display_cabinet - object  glassware - item)
  (:predicates (stands-in ?c - display_cabinet ?r - room) (displayed ?g - glassware ?c - display_cabinet))
  (:action push-along
    :parameters (?a - robot ?c - display_cabinet ?g - glassware ?from ?to - room)
    :precondition (and (present ?a ?from) (stands-in ?c ?from) (passage ?from ?to) (handfree ?a))
    :effect (and (not (present ?a ?from)) (present ?a ?to) (not (stands-in ?c ?from)) (stands-in ?c ?to))))
