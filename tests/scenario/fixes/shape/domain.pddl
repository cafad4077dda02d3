; What the scenario adds to the home.
(define (domain small-home)
  (:predicates (wrapped ?o - object ?f - foil))
  (:action unwrap_foil
    :parameters (?o: object ?f - foil ?a agent)
    :preconditions (wrapped ?o ?f) (in_reach_of_agent ?o)
    :effect (not (wrapped ?o ?f))))
