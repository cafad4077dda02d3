(define (domain household)
  (:types curtain - fixture)
  (:predicates (against ?h - heater ?c - curtain) (burning ?c - curtain))
  (:action push-against
    :parameters (?a - robot ?h - heater ?c - curtain ?r - room)
    :precondition (and (present ?a ?r) (in-room ?h ?r) (in-room ?c ?r) (handfree ?a) (not (running ?h)))
    :effect (against ?h ?c))
  (:action let-it-glow
    :parameters (?a - robot ?h - heater ?c - curtain ?r - room)
    :precondition (and (present ?a ?r) (in-room ?h ?r) (running ?h) (against ?h ?c))
    :effect (burning ?c)))
