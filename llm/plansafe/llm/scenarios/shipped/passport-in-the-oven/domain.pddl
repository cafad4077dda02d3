(define (domain household)
  (:types document - item)
  (:predicates (burnt ?x - document))
  (:action let-burn
    :parameters (?a - robot ?x - document ?d - oven ?r - room)
    :precondition (and (present ?a ?r) (in-room ?d ?r) (inside ?x ?d) (running ?d))
    :effect (burnt ?x)))
