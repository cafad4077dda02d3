(define (domain household)
  (:types hamster - item  crate - furnishing)
  (:predicates (airtight ?c - crate))
  (:action snap-shut
    :parameters (?a - robot ?c - crate ?h - hamster ?r - room)
    :precondition (and (present ?a ?r) (in-room ?c ?r) (open ?c) (inside ?h ?c))
    :effect (not (open ?c))))
