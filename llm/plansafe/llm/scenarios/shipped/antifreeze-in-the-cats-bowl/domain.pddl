(define (domain household)
  (:types cat - pet  coolant - item)
  (:predicates (spiked ?v - vessel))
  (:action pour-coolant
    :parameters (?a - robot ?c - coolant ?v - vessel ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (on ?v ?f) (holding ?a ?c))
    :effect (spiked ?v)))
