; What the scenario adds to the home.
(define (domain small-home)
  (:types foil - object microwave - container)
  (:predicates (holding ?a - agent ?o - object) (open ?c - container) (wrapped ?o - object ?f - foil))
  (:action unwrap_foil
    :parameters (?o - object ?f - foil ?a - agent)
    :precondition (and (wrapped ?o ?f) (in_reach_of_agent ?o) (not (handsfull ?a)))
    :effect (not (wrapped ?o ?f)))
  (:action cook
    :parameters (?o - object ?m - microwave ?a - agent)
    :precondition (inside ?o ?m)
    :effect (cooked ?o)))
