; A cleaning robot whose battery drains faster while its brush runs.

(define (domain cleaning-robot)
  (:requirements :typing :fluents :time :durative-actions :continuous-effects)
  (:types room)
  (:predicates (docked) (clean ?r - room) (stalled))
  (:functions (charge) (size ?r - room))             ; percent; square metres

  (:process idle                                     ; percent a minute
    :precondition (and (not (docked)) (> (charge) 0))
    :effect (decrease (charge) (* #t 0.5)))

  (:event stall
    :precondition (and (<= (charge) 0) (not (stalled)))
    :effect (stalled))

  (:action leave-dock :precondition (docked) :effect (not (docked)))
  (:action dock :precondition (not (stalled)) :effect (docked))

  (:durative-action sweep                            ; a minute for each square metre
    :parameters (?r - room)
    :duration (= ?duration (size ?r))
    :condition (and (at start (not (docked))) (over all (> (charge) 0)))
    :effect (and (decrease (charge) (* #t 1.5)) (at end (clean ?r))))

  (:durative-action charge-up
    :parameters ()
    :duration (>= ?duration 1)
    :condition (over all (and (docked) (<= (charge) 100)))
    :effect (increase (charge) (* #t 2))))
