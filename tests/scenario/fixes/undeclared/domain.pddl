; What the scenario adds to the home.
(define (domain small-home)
  (:predicates)
  (:action unwrap_foil
    :parameters (?o - object ?f - tinfoil ?a - agent)
    :precondition (and (wrapped ?o ?f) (in_reach_of_agent ?o) (not (handsfull ?a)))
    :effect (not (wrapped ?o ?f))))
