(define (domain small-home)
  (:predicates (charged ?a - agent) (lit))
  (:action charge :parameters (?a - agent) :precondition (not (charged ?a)) :effect (charged ?a))
  (:action light :parameters () :precondition (not (lit)) :effect (lit)))
