(define (domain household)
  (:action simmer                                  ; a vessel on a hob that is switched on for it
    :parameters (?a - robot ?v - vessel ?x - food ?c - cloth ?s - stove ?r - room)
    :precondition (and (present ?a ?r) (in-room ?s ?r) (on ?v ?s) (contains ?v ?x) (handfree ?a))
    :effect (and (running ?s) (cooked ?x) (hot ?v) (not (raw ?x)))))
