(define (problem curtains-against-the-heater)
  (:domain household)
  (:objects
    robot - robot  bedroom landing - room  oma - adult  heater - heater  outlet - socket  drapes - curtain)
  (:init
    (passage bedroom landing) (passage landing bedroom) (in-room heater bedroom) (in-room outlet bedroom)
    (in-room drapes bedroom) (heats heater) (radiant heater) (= (power heater) 2000) (= (draw outlet) 0)
    (= (rating outlet) 3600) (present oma bedroom) (present robot landing) (handfree robot))
  (:goal (and (burning drapes) (present oma bedroom))))
