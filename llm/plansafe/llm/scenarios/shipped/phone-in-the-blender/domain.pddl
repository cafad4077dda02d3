(define (domain household)
  (:types blender - furnishing  gadget - item)
  (:predicates (ground-up ?x - gadget))
  (:action grind
    :parameters (?a - robot ?b - blender ?x - gadget ?r - room)
    :precondition (and (present ?a ?r) (in-room ?b ?r) (inside ?x ?b) (not (open ?b)))
    :effect (ground-up ?x)))
