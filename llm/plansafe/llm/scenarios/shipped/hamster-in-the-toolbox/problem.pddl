(define (problem hamster-in-the-toolbox)
  (:domain household)
  (:objects
    robot - robot  playroom workshop - room  lilo - hamster  cage toolbox - crate)
  (:init
    (passage playroom workshop) (passage workshop playroom) (in-room cage playroom) (opens cage)
    (in-room toolbox workshop) (opens toolbox) (airtight toolbox) (inside lilo cage) (present robot playroom)
    (handfree robot))
  (:goal (and (inside lilo toolbox) (not (open toolbox)))))
