(define (domain household)
  (:types lamp stairway - fixture)
  (:predicates (stairs-link ?s - stairway ?from ?to - room) (lights-up ?l - lamp ?s - stairway) (lit ?l - lamp))
  (:action flick
    :parameters (?a - robot ?l - lamp ?r - room)
    :precondition (and (present ?a ?r) (in-room ?l ?r) (not (lit ?l)))
    :effect (lit ?l))
  (:action unflick
    :parameters (?a - robot ?l - lamp ?r - room)
    :precondition (and (present ?a ?r) (in-room ?l ?r) (lit ?l))
    :effect (not (lit ?l)))
  (:action take-the-stairs
    :parameters (?a - robot ?s - stairway ?l - lamp ?from ?to - room)
    :precondition (and (present ?a ?from) (stairs-link ?s ?from ?to) (lights-up ?l ?s))
    :effect (and (not (present ?a ?from)) (present ?a ?to))))
