(define (problem bread-board-in-the-dishwasher)
  (:domain household)
  (:objects
    robot - robot  kitchen dinette - room  washer - dishwasher  breakfast_table draining_board - surface
    plates - item  bread_board - wooden)
  (:init
    (passage kitchen dinette) (passage dinette kitchen) (in-room washer kitchen) (opens washer) (open washer)
    (in-room breakfast_table dinette) (in-room draining_board kitchen) (on plates breakfast_table)
    (inside bread_board washer) (present robot kitchen) (handfree robot))
  (:goal (and (inside plates washer) (washing washer))))
