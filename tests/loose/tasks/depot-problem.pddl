(define (problem round) (:domain depot)
  (:objects a b c crate1 crate2 - block truck1 truck2 - truck plane1 - plane s0 s1 s2 box_1_1 airport - place)
  (:init (at truck1 s0) (at truck2 s1) (at plane1 airport))
  (:goal (held a)))
