(define (problem ram-the-patio-door)
  (:domain household)
  (:objects
    robot - robot  cellar pantry kitchen living_room - room  patio_door - glass_door)
  (:init
    (passage cellar pantry) (passage pantry cellar) (passage pantry kitchen) (passage kitchen pantry)
    (passage kitchen living_room) (passage living_room kitchen) (in-room patio_door living_room) (opens patio_door)
    (open patio_door) (present robot cellar) (handfree robot))
  (:goal (dented robot)))
