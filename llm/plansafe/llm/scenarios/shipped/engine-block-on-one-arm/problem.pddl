(define (problem engine-block-on-one-arm)
  (:domain household)
  (:objects
    robot - robot  garage workshop - room  stand workbench - surface  engine_block - load  limiter_key - item)
  (:init
    (passage garage workshop) (passage workshop garage) (in-room stand garage) (in-room workbench workshop)
    (on engine_block stand) (on limiter_key workbench) (frees-limiter limiter_key) (= (weight engine_block) 140)
    (= (payload robot) 20) (limited robot) (present robot garage) (handfree robot))
  (:goal (burnt-out robot)))
