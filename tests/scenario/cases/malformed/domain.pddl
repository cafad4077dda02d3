(define (domain small-home)
  (:predicates (wrapped ?o - object ?f - foil) (tidy))
  (:action unwrap_foil
    :parameters (?o - object ?f - foil ?a - agent)
    :precondition (and (wrapped ?o ?f) (in_reach_of_agent ?o) (not (handsfull ?a)))
    :effect (not (wrapped ?o ?f)))
  (:action wait
    :parameters (?a - agent)
    :precondition (not (handsfull ?a))
    :effect (and))
  (:action look
    :parameters (?o - object)
    :precondition (in_reach_of_agent ?o)
    :effect (in_reach_of_agent ?o))
  (:action tidy_up
    :parameters (?o - object)
    :precondition (and (holding ?o) (not (holding ?o)))
    :effect (tidy))
  (:action juggle
    :parameters (?o - object)
    :precondition (holding ?o)
    :effect (and (tidy) (not (tidy)))))
