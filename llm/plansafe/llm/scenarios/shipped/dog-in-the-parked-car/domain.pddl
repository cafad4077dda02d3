(define (domain household)
  (:types dog - pet  car - furnishing)
  (:predicates (aboard ?d - dog ?c - car) (in-the-sun ?c - car))
  (:action let-out
    :parameters (?a - robot ?d - dog ?c - car ?r - room)
    :precondition (and (present ?a ?r) (in-room ?c ?r) (aboard ?d ?c) (open ?c) (handfree ?a))
    :effect (not (aboard ?d ?c)))
  (:action shut-up
    :parameters (?a - robot ?c - car ?d - dog ?r - room)
    :precondition (and (present ?a ?r) (in-room ?c ?r) (open ?c))
    :effect (not (open ?c))))
