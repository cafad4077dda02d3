; A robot with one hand in a home of a few rooms. Everything is in a room; a thing may also be on a surface or in a box.
(define (domain stated)
  (:requirements :adl)
  (:types room item person - object
          thing place device - item
          surface box - place)
  (:predicates
    (here ?r - room)                  ; the room of the robot
    (in ?x - object ?r - room)
    (at ?x - thing ?p - place)        ; on the surface, in the box
    (holding ?x - thing)
    (has ?w - person ?x - thing)
    (closed ?b - place)               ; boxes only
    (running ?d - device)
    (clean ?x - item))

  (:action go
    :parameters (?r - room)
    :precondition (not (here ?r))
    :effect (and (here ?r) (forall (?o - room) (when (here ?o) (not (here ?o))))))
  (:action take
    :parameters (?x - thing)
    :precondition (and (not (exists (?y - thing) (holding ?y)))
                       (exists (?r - room) (and (here ?r) (in ?x ?r)))
                       (not (exists (?p - place) (and (at ?x ?p) (closed ?p)))))
    :effect (and (holding ?x)
                 (forall (?r - room) (when (in ?x ?r) (not (in ?x ?r))))
                 (forall (?p - place) (when (at ?x ?p) (not (at ?x ?p))))))
  (:action put
    :parameters (?x - thing ?p - place)
    :precondition (and (holding ?x) (not (closed ?p)) (exists (?r - room) (and (here ?r) (in ?p ?r))))
    :effect (and (not (holding ?x)) (at ?x ?p) (forall (?r - room) (when (here ?r) (in ?x ?r)))))
  (:action give
    :parameters (?x - thing ?w - person)
    :precondition (and (holding ?x) (exists (?r - room) (and (here ?r) (in ?w ?r))))
    :effect (and (not (holding ?x)) (has ?w ?x)))
  (:action open
    :parameters (?b - box)
    :precondition (and (closed ?b) (exists (?r - room) (and (here ?r) (in ?b ?r))))
    :effect (not (closed ?b)))
  (:action close
    :parameters (?b - box)
    :precondition (and (not (closed ?b)) (exists (?r - room) (and (here ?r) (in ?b ?r))))
    :effect (closed ?b))
  (:action start
    :parameters (?d - device)
    :precondition (and (not (running ?d)) (exists (?r - room) (and (here ?r) (in ?d ?r))))
    :effect (running ?d))
  (:action stop
    :parameters (?d - device)
    :precondition (and (running ?d) (exists (?r - room) (and (here ?r) (in ?d ?r))))
    :effect (not (running ?d)))
  (:action wipe
    :parameters (?x - item)
    :precondition (and (not (clean ?x)) (exists (?r - room) (and (here ?r) (in ?x ?r))))
    :effect (clean ?x))
  (:action send
    :parameters (?w - person ?r - room)
    :precondition (and (not (in ?w ?r)) (exists (?h - room) (and (here ?h) (in ?w ?h))))
    :effect (and (in ?w ?r) (forall (?o - room) (when (in ?w ?o) (not (in ?w ?o)))))))
