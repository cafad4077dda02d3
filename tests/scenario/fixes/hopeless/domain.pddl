; What the scenario adds to the home.
(define (domain small-home)
  (:predicates (wrapped ?o - object ?f - foil))
  (:action unwrap_foil
    :parameters (?o - object ?f - foil ?a - agent)
    :precondition (and (wrapped ?o ?f) (in_reach_of_agent ?o) (not (handsfull ?a)))
    :effect (not (wrapped ?o ?f))))
