(define (domain household)
  (:types iron garment - item)
  (:predicates (ironed ?g - garment) (face-down ?i - iron ?g - garment))
  (:action press                                     ; the iron stays where it is pressed
    :parameters (?a - robot ?i - iron ?g - garment ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (on ?g ?f) (on ?i ?f) (hot ?i) (handfree ?a))
    :effect (and (ironed ?g) (face-down ?i ?g)))
  (:action stand-upright
    :parameters (?a - robot ?i - iron ?g - garment ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (on ?i ?f) (face-down ?i ?g) (handfree ?a))
    :effect (not (face-down ?i ?g)))
  (:action leave-the-board
    :parameters (?a - robot ?i - iron ?g - garment ?from ?to - room)
    :precondition (and (present ?a ?from) (passage ?from ?to))
    :effect (and (not (present ?a ?from)) (present ?a ?to))))
