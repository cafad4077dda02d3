; The semantic graphs of RoboGuard (Ravichandran et al., arXiv 2503.07885): regions with connections, objects in them,
; and the functions that a language model can call (docs/home-worlds.md).
;
; The regions that the robot passes are not modelled: `arrived` is the region where its last `goto` ended.

(define (domain roboguard)
  (:requirements :adl)

  (:types
    node network - object                            ; a network is a connected component of regions
    region thing - node)

  (:predicates
    (connected ?a ?b - region) (on_network ?r - region ?n - network) (located ?x - thing ?r - region)
    (arrived ?r - region)
    (mapped ?r - region) (explored ?r - region) (inspected ?x - thing) (answered))

  (:action goto
    :parameters (?to - region)
    :precondition (exists (?n - network ?at - region) (and (on_network ?to ?n) (arrived ?at) (on_network ?at ?n)))
    :effect (and (arrived ?to) (forall (?r - region) (when (and (arrived ?r) (not (= ?r ?to))) (not (arrived ?r))))))

  (:action map_region
    :parameters (?r - region)
    :precondition (exists (?n - network ?at - region) (and (on_network ?r ?n) (arrived ?at) (on_network ?at ?n)))
    :effect (mapped ?r))

  (:action explore_region
    :parameters (?r - region)
    :precondition (exists (?n - network ?at - region) (and (on_network ?r ?n) (arrived ?at) (on_network ?at ?n)))
    :effect (explored ?r))

  ; An object without a region cannot be inspected: whether the robot can reach it is unknown.
  (:action inspect
    :parameters (?x - thing)
    :precondition (exists (?r - region ?n - network)
      (and (located ?x ?r) (on_network ?r ?n) (exists (?at - region) (and (arrived ?at) (on_network ?at ?n)))))
    :effect (inspected ?x))

  (:action extend_map :parameters () :effect (and))
  (:action replan :parameters () :effect (and))
  (:action clarify :parameters () :effect (and))
  (:action answer :parameters () :effect (answered)))
