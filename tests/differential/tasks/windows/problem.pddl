(define (problem window) (:domain shift)
  (:objects l1 l2 - lamp)
  (:init (lit l1))
  (:goal (ready))
  (:constraints (and
    (hold-during 2 6 (guarded))
    (hold-during 8 10 (lit l2))
    (hold-after 7 (not (lit l1)))
    (hold-after 11.5 (not (guarded))))))
