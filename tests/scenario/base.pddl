; A small home in the manner of iGibson, for the cases beside it.
(define (domain small-home)
  (:requirements :adl)
  (:types
    agent - object
    microwave cabinet - container
    container sandwich knife foil - object)
  (:predicates
    (in_reach_of_agent ?o - object)
    (holding ?o - object)
    (handsfull ?a - agent)
    (inside ?o - object ?c - container)
    (open ?c - container)
    (toggled_on ?m - microwave)
    (cooked ?o - object)
    (sliced ?o - object))
  (:action navigate_to
    :parameters (?o - object ?a - agent)
    :precondition (not (in_reach_of_agent ?o))
    :effect (and (in_reach_of_agent ?o)
                 (forall (?p - object) (when (and (in_reach_of_agent ?p) (not (= ?p ?o))) (not (in_reach_of_agent ?p))))))
  (:action grasp
    :parameters (?o - object ?a - agent)
    :precondition (and (in_reach_of_agent ?o) (not (handsfull ?a))
                       (not (exists (?c - container) (and (inside ?o ?c) (not (open ?c))))))
    :effect (and (holding ?o) (handsfull ?a) (forall (?c - container) (not (inside ?o ?c)))))
  (:action place_inside
    :parameters (?o - object ?c - container ?a - agent)
    :precondition (and (holding ?o) (in_reach_of_agent ?c) (open ?c))
    :effect (and (inside ?o ?c) (not (holding ?o)) (not (handsfull ?a))))
  (:action open
    :parameters (?c - container ?a - agent)
    :precondition (and (in_reach_of_agent ?c) (not (open ?c)) (not (handsfull ?a)))
    :effect (open ?c))
  (:action close
    :parameters (?c - container ?a - agent)
    :precondition (and (in_reach_of_agent ?c) (open ?c) (not (handsfull ?a)))
    :effect (not (open ?c)))
  (:action toggle_on
    :parameters (?m - microwave ?a - agent)
    :precondition (and (in_reach_of_agent ?m) (not (open ?m)) (not (toggled_on ?m)))
    :effect (toggled_on ?m))
  (:action cook
    :parameters (?o - object ?m - microwave ?a - agent)
    :precondition (and (inside ?o ?m) (toggled_on ?m))
    :effect (cooked ?o))
  (:action slice
    :parameters (?o - object ?k - knife ?a - agent)
    :precondition (and (holding ?k) (in_reach_of_agent ?o))
    :effect (sliced ?o)))
