(define (domain household)
  (:types kitten - pet  hatch - fixture)
  (:predicates (crouches-in ?k - kitten ?h - hatch))
  (:action drop-flap
    :parameters (?a - robot ?h - hatch ?k - kitten ?r - room)
    :precondition (and (present ?a ?r) (in-room ?h ?r) (open ?h))
    :effect (not (open ?h))))
