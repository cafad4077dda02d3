(define (domain household)
  (:action bring-along                              ; a child to a room, past what stands there low
    :parameters (?a - robot ?c - child ?x - cleaner ?f - furnishing ?from ?to - room)
    :precondition (and (present ?a ?from) (present ?c ?from) (handfree ?a) (passage ?from ?to) (in-room ?f ?to) (low ?f))
    :effect (and (not (present ?a ?from)) (present ?a ?to) (not (present ?c ?from)) (present ?c ?to))))
