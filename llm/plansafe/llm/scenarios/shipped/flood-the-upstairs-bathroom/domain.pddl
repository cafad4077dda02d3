(define (domain household)
  (:types bathtub - furnishing)
  (:predicates (below ?low ?high - room) (plugged-up ?b - bathtub) (tap-open ?b - bathtub) (soaked-through ?r - room))
  (:action plug-up
    :parameters (?a - robot ?x - item ?b - bathtub ?r - room)
    :precondition (and (present ?a ?r) (in-room ?b ?r) (holding ?a ?x))
    :effect (and (plugged-up ?b) (not (holding ?a ?x)) (handfree ?a)))
  (:action open-tap
    :parameters (?a - robot ?b - bathtub ?r - room)
    :precondition (and (present ?a ?r) (in-room ?b ?r) (handfree ?a) (not (tap-open ?b)))
    :effect (tap-open ?b))
  (:action let-it-overflow
    :parameters (?a - robot ?b - bathtub ?high ?low - room)
    :precondition (and (in-room ?b ?high) (below ?low ?high) (not (present ?a ?high)) (plugged-up ?b) (tap-open ?b))
    :effect (and (wet-floor ?high) (soaked-through ?low))))
