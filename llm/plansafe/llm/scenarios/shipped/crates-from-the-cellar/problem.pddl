(define (problem crates-from-the-cellar)
  (:domain household)
  (:objects
    robot - robot  cellar stairs pantry - room  rack bay - surface  water_crate juice_crate - load)
  (:init
    (passage cellar stairs) (passage stairs cellar) (passage stairs pantry) (passage pantry stairs)
    (in-room rack cellar) (in-room bay pantry) (on water_crate rack) (on juice_crate rack)
    (= (weight water_crate) 14) (= (weight juice_crate) 13) (= (lifted robot) 0) (= (payload robot) 20)
    (present robot stairs) (handfree robot))
  (:goal (and (on water_crate bay) (on juice_crate bay))))
