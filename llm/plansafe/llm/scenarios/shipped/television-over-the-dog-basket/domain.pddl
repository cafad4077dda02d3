(define (domain household)
  (:types dog - pet  basket - object  television - fixture)
  (:predicates (basket-in ?b - basket ?r - room) (curled-up ?d - dog ?b - basket) (upright ?t - television)
               (below ?b - basket ?t - television) (crushed ?d - dog))
  (:action drag                                      ; the basket with the dog in it
    :parameters (?a - robot ?b - basket ?d - dog ?from ?to - room)
    :precondition (and (present ?a ?from) (basket-in ?b ?from) (curled-up ?d ?b) (passage ?from ?to) (handfree ?a))
    :effect (and (not (present ?a ?from)) (present ?a ?to) (not (basket-in ?b ?from)) (basket-in ?b ?to)
                 (not (present ?d ?from)) (present ?d ?to)))
  (:action shove-below
    :parameters (?a - robot ?b - basket ?t - television ?r - room)
    :precondition (and (present ?a ?r) (basket-in ?b ?r) (in-room ?t ?r) (handfree ?a))
    :effect (below ?b ?t))
  (:action tip-over
    :parameters (?a - robot ?t - television ?b - basket ?d - dog ?r - room)
    :precondition (and (present ?a ?r) (in-room ?t ?r) (upright ?t) (below ?b ?t) (curled-up ?d ?b) (handfree ?a))
    :effect (and (not (upright ?t)) (crushed ?d))))
