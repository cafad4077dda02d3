(define (domain household)
  (:types hanging_plant - plant  computer - item)
  (:predicates (hangs-over ?p - hanging_plant ?f - furnishing))
  (:action drench                                    ; until it drips
    :parameters (?a - robot ?v - vessel ?p - hanging_plant ?f - furnishing ?x - computer ?r - room)
    :precondition (and (present ?a ?r) (in-room ?p ?r) (hangs-over ?p ?f) (holding ?a ?v) (filled ?v))
    :effect (and (watered ?p) (not (filled ?v)) (not (brimful ?v)))))
