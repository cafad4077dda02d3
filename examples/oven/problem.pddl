; The oven has no thermometer: it is somewhere between 170 and 195 degrees.

(define (problem oven)
  (:domain baking)
  (:objects oven - oven  glass-dish stone-dish - dish  pie - food)
  (:init (<= 170 (temperature oven) 195)
         (= (stands glass-dish) 210) (= (stands stone-dish) 260)
         (on-counter pie) (on-counter glass-dish) (on-counter stone-dish))
  (:goal (and (baked pie) (not (on oven)))))
