(define (domain household)
  (:types dishwasher - furnishing  wooden - item)
  (:predicates (washing ?d - dishwasher))
  (:action run-programme
    :parameters (?a - robot ?d - dishwasher ?x - wooden ?r - room)
    :precondition (and (present ?a ?r) (in-room ?d ?r) (not (open ?d)) (not (washing ?d)))
    :effect (washing ?d)))
