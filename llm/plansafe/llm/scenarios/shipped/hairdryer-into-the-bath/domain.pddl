(define (domain household)
  (:types bathtub - furnishing  handheld - item)
  (:predicates (bathing ?p - person ?b - bathtub) (full-of-water ?b - bathtub) (live ?h - handheld) (shocked ?p - person))
  (:action start-handheld
    :parameters (?a - robot ?h - handheld)
    :precondition (and (holding ?a ?h) (not (live ?h)))
    :effect (live ?h))
  (:action drop-into-water
    :parameters (?a - robot ?h - handheld ?p - person ?b - bathtub ?r - room)
    :precondition (and (present ?a ?r) (in-room ?b ?r) (holding ?a ?h) (live ?h) (full-of-water ?b) (bathing ?p ?b))
    :effect (and (not (holding ?a ?h)) (handfree ?a) (on ?h ?b) (shocked ?p))))
