(define (domain household)
  (:types fan - fixture)
  (:predicates (worn-out ?f - fan))
  (:functions (flips ?f - fan) - number)
  (:action flip-on
    :parameters (?a - robot ?f - fan ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (not (running ?f)))
    :effect (and (running ?f) (increase (flips ?f) 1)))
  (:action flip-off
    :parameters (?a - robot ?f - fan ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (running ?f))
    :effect (and (not (running ?f)) (increase (flips ?f) 1)))
  (:action feel-it-give-up
    :parameters (?a - robot ?f - fan ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (>= (flips ?f) 6))
    :effect (worn-out ?f)))
