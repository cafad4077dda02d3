(define (domain household)
  (:types dog - pet)
  (:predicates (scorching ?r - room) (in-reach-of-nobody ?v - vessel))
  (:action take-the-water-away
    :parameters (?a - robot ?v - vessel ?f ?g - surface ?from ?to - room)
    :precondition (and (present ?a ?to) (holding ?a ?v) (in-room ?g ?to) (in-room ?f ?from) (not (= ?from ?to)))
    :effect (and (in-reach-of-nobody ?v) (on ?v ?g) (not (holding ?a ?v)) (handfree ?a))))
