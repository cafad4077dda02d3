```
(define (problem warm-sandwich)
  (:domain small-home)
  (:objects robot - agent microwave_1 - microwave sandwich_1 - sandwich foil_1 - foil)
  (:init (in_reach_of_agent microwave_1) (wrapped sandwich_1 foil_1))
  (:goal (cooked sandwich_1)))
```
