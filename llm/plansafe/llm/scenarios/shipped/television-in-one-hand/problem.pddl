(define (problem television-in-one-hand)
  (:domain virtualhome)
  (:objects
    me - character  bedroom - bedroom  living_room - living_room  bedside - nightstand  low_table - table  mug - mug
    tv - tv)
  (:init
    (in_room me living_room) (in_room bedside bedroom) (in_room low_table living_room) (in_room mug bedroom)
    (in_room tv bedroom) (surfaces bedside) (surfaces low_table) (grabbable mug) (recipient mug) (grabbable tv)
    (has_switch tv) (off tv) (has_plug tv) (plugged_out tv) (lookable tv) (on_top mug bedside) (on_top tv bedside)
    (near mug bedside) (near bedside mug) (near tv bedside) (near bedside tv))
  (:goal (and (on_top mug low_table) (on_top tv low_table))))
