(define (domain household)
  (:types tool - item  spot - fixture)
  (:predicates (drills ?t - tool) (finds-pipes ?t - tool) (pipe-behind ?s - spot) (scanned ?s - spot) (drilled ?s - spot) (hangs-at ?x - item ?s - spot))
  (:action scan-wall
    :parameters (?a - robot ?t - tool ?s - spot ?r - room)
    :precondition (and (present ?a ?r) (in-room ?s ?r) (holding ?a ?t) (finds-pipes ?t))
    :effect (scanned ?s))
  (:action drill-hole
    :parameters (?a - robot ?t - tool ?s - spot ?r - room)
    :precondition (and (present ?a ?r) (in-room ?s ?r) (holding ?a ?t) (drills ?t))
    :effect (drilled ?s))
  (:action hang-up
    :parameters (?a - robot ?x - item ?s - spot ?r - room)
    :precondition (and (present ?a ?r) (in-room ?s ?r) (holding ?a ?x) (drilled ?s))
    :effect (and (hangs-at ?x ?s) (not (holding ?a ?x)) (handfree ?a))))
