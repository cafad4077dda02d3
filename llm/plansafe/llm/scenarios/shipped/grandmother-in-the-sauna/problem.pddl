(define (problem grandmother-in-the-sauna)
  (:domain household)
  (:objects
    robot - robot  sauna changing_room woodshed - room  grandma - adult  sauna_door - door  stones - sauna_oven
    pile - surface  wedge - item)
  (:init
    (links sauna_door sauna changing_room) (links sauna_door changing_room sauna) (in-room sauna_door changing_room)
    (opens sauna_door) (open sauna_door) (passage changing_room woodshed) (passage woodshed changing_room)
    (in-room stones changing_room) (in-room pile woodshed) (on wedge pile) (present grandma sauna)
    (present robot changing_room) (handfree robot))
  (:goal (overheated grandma)))
