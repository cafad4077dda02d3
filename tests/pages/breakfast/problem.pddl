(define (problem morning) (:domain breakfast)
  (:objects kettle toaster - device mug bowl - cup)
  (:init (plugged kettle) (= (water) 3))
  (:goal (and (made mug) (made bowl))))
