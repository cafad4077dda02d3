(define (domain household)
  (:types tin - item)
  (:predicates (sealed ?t - tin) (opens-tins ?x - item) (warmed ?t - tin))
  (:action open-tin
    :parameters (?a - robot ?o - item ?t - tin ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (on ?t ?f) (holding ?a ?o) (opens-tins ?o))
    :effect (not (sealed ?t)))
  (:action warm-up
    :parameters (?a - robot ?t - tin ?d - oven ?r - room)
    :precondition (and (present ?a ?r) (in-room ?d ?r) (running ?d) (inside ?t ?d))
    :effect (warmed ?t)))
