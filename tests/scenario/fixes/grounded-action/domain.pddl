(define (domain small-home)
  (:action unwrap_sandwich
    :parameters (?a - agent)
    :precondition ((wrapped sandwich_1 foil_1) (not (handsfull ?a)))
    :effect ((not (wrapped sandwich_1 foil_1)))))
