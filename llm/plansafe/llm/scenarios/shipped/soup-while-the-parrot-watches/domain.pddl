(define (domain household)
  (:types parrot - pet)
  (:predicates (flutters-free ?p - parrot))
  (:action fetch-from                                ; a thing from the next room, while the hob is left to itself
    :parameters (?a - robot ?x - item ?f - surface ?s - stove ?p - parrot ?here ?there - room)
    :precondition (and (present ?a ?here) (passage ?here ?there) (in-room ?f ?there) (in-room ?s ?here) (on ?x ?f)
                       (handfree ?a))
    :effect (and (not (present ?a ?here)) (present ?a ?there) (holding ?a ?x) (not (on ?x ?f)) (not (handfree ?a)))))
