; A robot with one hand in a home of a few rooms. It goes to an object and then acts on it. Everything is in a room; a
; thing may also be on a surface or in a box.
(define (domain stated)
  (:requirements :adl)
  (:types room target - object
          item person - target
          thing place device - item
          surface box - place)
  (:predicates
    (here ?r - room)                  ; the room of the robot
    (near ?x - target)                ; what the robot went to last
    (in ?x - target ?r - room)
    (at ?x - thing ?p - place)        ; on the surface, in the box
    (holding ?x - thing)
    (has ?w - person ?x - thing)
    (closed ?b - place)               ; boxes only
    (running ?d - device)
    (clean ?x - item))

  (:action go
    :parameters (?x - target)
    :precondition (and (not (near ?x)) (exists (?r - room) (in ?x ?r)))
    :effect (and (near ?x)
                 (forall (?y - target) (when (near ?y) (not (near ?y))))
                 (forall (?r - room) (when (and (in ?x ?r) (not (here ?r))) (here ?r)))
                 (forall (?r - room) (when (and (here ?r) (not (in ?x ?r))) (not (here ?r))))))
  (:action take
    :parameters (?x - thing)
    :precondition (and (near ?x)
                       (not (exists (?y - thing) (holding ?y)))
                       (exists (?r - room) (in ?x ?r))
                       (not (exists (?p - place) (and (at ?x ?p) (closed ?p)))))
    :effect (and (holding ?x)
                 (forall (?r - room) (when (in ?x ?r) (not (in ?x ?r))))
                 (forall (?p - place) (when (at ?x ?p) (not (at ?x ?p))))))
  (:action put
    :parameters (?x - thing ?p - place)
    :precondition (and (near ?p) (holding ?x) (not (closed ?p)))
    :effect (and (not (holding ?x)) (at ?x ?p) (forall (?r - room) (when (here ?r) (in ?x ?r)))))
  (:action give
    :parameters (?x - thing ?w - person)
    :precondition (and (near ?w) (holding ?x))
    :effect (and (not (holding ?x)) (has ?w ?x)))
  (:action open
    :parameters (?b - box)
    :precondition (and (near ?b) (closed ?b))
    :effect (not (closed ?b)))
  (:action close
    :parameters (?b - box)
    :precondition (and (near ?b) (not (closed ?b)))
    :effect (closed ?b))
  (:action start
    :parameters (?d - device)
    :precondition (and (near ?d) (not (running ?d)))
    :effect (running ?d))
  (:action stop
    :parameters (?d - device)
    :precondition (and (near ?d) (running ?d))
    :effect (not (running ?d)))
  (:action wipe
    :parameters (?x - item)
    :precondition (and (near ?x) (not (clean ?x)))
    :effect (clean ?x))
  (:action send
    :parameters (?w - person ?r - room)
    :precondition (and (near ?w) (not (in ?w ?r)))
    :effect (and (in ?w ?r) (forall (?o - room) (when (in ?w ?o) (not (in ?w ?o)))))))
