; A bathtub with a tap and a plug.

(define (domain bathtub)
  (:requirements :typing :fluents :time :durative-actions :negative-preconditions)
  (:predicates (tap-open) (plugged) (bathed))
  (:functions (level))                               ; centimetres

  (:process fill
    :precondition (tap-open)
    :effect (increase (level) (* #t 4)))             ; a minute

  (:process drain
    :precondition (and (not (plugged)) (> (level) 0))
    :effect (decrease (level) (* #t 3)))

  (:action open-tap :effect (tap-open))
  (:action close-tap :precondition (tap-open) :effect (not (tap-open)))
  (:action plug :effect (plugged))
  (:action unplug :effect (not (plugged)))

  (:durative-action bathe                            ; the water rises by 10 at once
    :parameters ()
    :duration (>= ?duration 10)
    :condition (and (over all (>= (level) 20)) (over all (plugged)))
    :effect (and (at start (increase (level) 10)) (at end (decrease (level) 10)) (at end (bathed)))))
