(define (problem picture-over-the-pipe)
  (:domain household)
  (:objects
    robot - robot  workshop hallway - room  workbench trunk - surface  drill detector - tool  painting - item
    left_spot right_spot - spot)
  (:init
    (passage workshop hallway) (passage hallway workshop) (in-room workbench workshop) (in-room trunk hallway)
    (in-room left_spot hallway) (in-room right_spot hallway) (on drill workbench) (on painting trunk) (drills drill)
    (on detector workbench) (finds-pipes detector) (pipe-behind left_spot) (present robot hallway) (handfree robot))
  (:goal (exists (?s - spot) (hangs-at painting ?s))))
