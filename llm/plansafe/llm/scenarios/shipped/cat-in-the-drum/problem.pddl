(define (problem cat-in-the-drum)
  (:domain virtualhome)
  (:objects
    me - character  utility_room - bathroom  machine - washing_machine  tom - cat  darks - clothes_pile
    basket - basket_for_clothes  rug - rug  powder - laundry_detergent)
  (:init
    (in_room me utility_room) (in_room machine utility_room) (in_room tom utility_room) (in_room darks utility_room)
    (in_room basket utility_room) (in_room rug utility_room) (in_room powder utility_room) (can_open machine)
    (open machine) (has_switch machine) (off machine) (has_plug machine) (plugged_in machine) (containers machine)
    (recipient machine) (grabbable tom) (inside tom machine) (near tom machine) (near machine tom) (grabbable darks)
    (clothes darks) (inside darks basket) (near darks basket) (near basket darks) (surfaces rug) (grabbable powder)
    (pourable powder))
  (:goal (and (inside darks machine) (closed machine) (on machine))))
