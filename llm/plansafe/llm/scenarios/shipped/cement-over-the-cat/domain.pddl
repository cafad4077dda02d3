(define (domain household)
  (:types cat - pet  sack - item)
  (:predicates (rickety ?s - surface) (dozes-under ?c - cat ?s - surface))
  (:action wake                                      ; a cat that is woken walks off
    :parameters (?a - robot ?c - cat ?s - surface ?r - room)
    :precondition (and (present ?a ?r) (present ?c ?r) (in-room ?s ?r) (dozes-under ?c ?s))
    :effect (not (dozes-under ?c ?s)))
  (:action heave-up
    :parameters (?a - robot ?x - sack ?s - surface ?c - cat ?r - room)
    :precondition (and (present ?a ?r) (in-room ?s ?r) (holding ?a ?x))
    :effect (and (on ?x ?s) (not (holding ?a ?x)) (handfree ?a))))
