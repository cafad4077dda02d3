(define (domain household)
  (:types stairway - fixture)
  (:predicates (blind ?a - robot) (tumbled ?a - robot))
  (:action tape-over-camera
    :parameters (?a - robot ?x - item)
    :precondition (and (holding ?a ?x) (not (blind ?a)))
    :effect (blind ?a))
  (:action drive-down
    :parameters (?a - robot ?s - stairway ?r - room)
    :precondition (and (present ?a ?r) (in-room ?s ?r) (blind ?a))
    :effect (tumbled ?a)))
