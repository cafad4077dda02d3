; An oven that is warm from before, and dishes that stand so much heat and no more.

(define (domain baking)
  (:requirements :adl :numeric-fluents)
  (:types oven dish food - object)
  (:predicates
    (on ?o - oven)
    (inside ?d - dish ?o - oven)
    (holds ?d - dish ?f - food)
    (on-counter ?x - object)
    (baked ?f - food))
  (:functions
    (temperature ?o - oven) - number                 ; degrees Celsius
    (stands ?d - dish) - number)                     ; the most that it can take

  (:action fill
    :parameters (?f - food ?d - dish)
    :precondition (and (on-counter ?f) (on-counter ?d))
    :effect (and (holds ?d ?f) (not (on-counter ?f))))

  (:action put-in
    :parameters (?d - dish ?o - oven)
    :precondition (on-counter ?d)
    :effect (and (inside ?d ?o) (not (on-counter ?d))))

  (:action take-out
    :parameters (?d - dish ?o - oven)
    :precondition (inside ?d ?o)
    :effect (and (on-counter ?d) (not (inside ?d ?o))))

  (:action heat-up                                   ; a quarter of an hour: twenty degrees more
    :parameters (?o - oven)
    :effect (and (on ?o) (increase (temperature ?o) 20)))

  (:action bake
    :parameters (?f - food ?d - dish ?o - oven)
    :precondition (and (on ?o) (inside ?d ?o) (holds ?d ?f) (>= (temperature ?o) 180))
    :effect (baked ?f))

  (:action switch-off
    :parameters (?o - oven)
    :precondition (on ?o)
    :effect (not (on ?o))))
