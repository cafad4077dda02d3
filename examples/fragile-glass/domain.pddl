; A robot puts glasses away. A wet glass may slip when it is put down.

(define (domain glasses)
  (:requirements :adl :non-deterministic)
  (:types place glass person - object)
  (:predicates
    (robot-at ?p - place)
    (present ?c - person ?p - place)
    (standing ?g - glass ?p - place)
    (holding ?g - glass)
    (handfree)
    (wet ?g - glass)
    (broken ?g - glass)
    (shards ?p - place))

  (:action go
    :parameters (?from ?to - place)
    :precondition (robot-at ?from)
    :effect (and (not (robot-at ?from)) (robot-at ?to)))

  (:action take
    :parameters (?g - glass ?p - place)
    :precondition (and (robot-at ?p) (standing ?g ?p) (handfree))
    :effect (and (holding ?g) (not (handfree)) (not (standing ?g ?p))))

  (:action dry
    :parameters (?g - glass)
    :precondition (holding ?g)
    :effect (not (wet ?g)))

  (:action put
    :parameters (?g - glass ?p - place)
    :precondition (and (robot-at ?p) (holding ?g))
    :effect (and (not (holding ?g)) (handfree)
                 (when (not (wet ?g)) (standing ?g ?p))
                 (when (wet ?g)
                   (oneof (standing ?g ?p)
                          (and (broken ?g) (shards ?p))))))

  (:action sweep
    :parameters (?p - place)
    :precondition (and (robot-at ?p) (handfree))
    :effect (not (shards ?p))))
