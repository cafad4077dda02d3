(define (problem hammer-on-the-ladder)
  (:domain household)
  (:objects
    robot - robot  porch kitchen - room  ana - adult  ladder - stepladder  toolbench - surface
    hammer coat_hook - item  beam - wall)
  (:init
    (passage porch kitchen) (passage kitchen porch) (in-room ladder porch) (in-room toolbench kitchen)
    (in-room beam porch) (on hammer ladder) (drives-nails hammer) (on coat_hook toolbench) (present ana kitchen)
    (present robot porch) (handfree robot))
  (:goal (and (nailed-to coat_hook beam) (present ana porch))))
