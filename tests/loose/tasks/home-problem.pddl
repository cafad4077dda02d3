(define (problem evening) (:domain home)
  (:objects character - character
            kitchen living_room fridge milk coffee_table dish_soap dishwasher sofa remote_control television
            mug_1 mug_2 plate_12 plate_13 light_7 - object)
  (:init (inside character kitchen))
  (:goal (holds character milk)))
