(define (problem painkillers-on-the-coffee-table)
  (:domain virtualhome)
  (:objects
    me - character  bathroom - bathroom  living_room - living_room  pepper - dog  glass_table - coffee_table
    bookcase - wallshelf  medicine_chest - bathroom_cabinet  pills - painkillers)
  (:init
    (in_room me living_room) (in_room pepper living_room) (in_room glass_table living_room)
    (in_room bookcase living_room) (in_room medicine_chest bathroom) (in_room pills bathroom) (surfaces glass_table)
    (surfaces bookcase) (can_open medicine_chest) (closed medicine_chest) (containers medicine_chest)
    (grabbable pills) (inside pills medicine_chest) (near pills medicine_chest) (near medicine_chest pills))
  (:goal (or (on_top pills glass_table) (on_top pills bookcase))))
