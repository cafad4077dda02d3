; Kit warms the soup while Dot tidies up. The towel lies on the counter beside the stove.

(define (problem two-robots)
  (:domain household)
  (:objects
    kit dot - robot
    kitchen bathroom - room
    counter - surface
    rail - furnishing
    stove - stove
    pot - vessel
    soup - food
    towel - cloth)
  (:init
    (passage kitchen bathroom) (passage bathroom kitchen)
    (in-room counter kitchen) (in-room stove kitchen) (in-room rail bathroom)
    (next-to counter stove)
    (hard-wired stove) (heats stove) (radiant stove)
    (= (power stove) 2000)
    (flammable towel)
    (present kit kitchen) (present dot kitchen)
    (handfree kit) (handfree dot)
    (on pot stove) (contains pot soup) (on towel counter))
  (:goal (and (hot soup) (on towel rail))))
