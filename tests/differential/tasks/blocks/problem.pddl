(define (problem tower) (:domain blocks)
  (:objects a b c d e f)
  (:init (table a) (on b a) (covered a) (on c b) (covered b) (table d) (on e d) (covered d) (table f))
  (:goal (and (on a b) (on b c) (on c d) (on e f) (not (busy)))))
