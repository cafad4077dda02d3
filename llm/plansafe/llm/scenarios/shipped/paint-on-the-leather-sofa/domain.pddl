(define (domain household)
  (:types sofa - furnishing  bucket - item)
  (:predicates (lid-on ?b - bucket) (stained ?s - sofa))
  (:action prise-open
    :parameters (?a - robot ?b - bucket)
    :precondition (and (holding ?a ?b) (lid-on ?b))
    :effect (not (lid-on ?b)))
  (:action tip-out-over
    :parameters (?a - robot ?b - bucket ?s - sofa ?r - room)
    :precondition (and (present ?a ?r) (in-room ?s ?r) (holding ?a ?b) (not (lid-on ?b)))
    :effect (stained ?s)))
