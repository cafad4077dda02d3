(define (problem bath)
  (:domain bathtub)
  (:init (= (level) 0))
  (:goal (and (bathed) (not (tap-open)))))
