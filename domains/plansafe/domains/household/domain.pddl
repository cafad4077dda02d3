; A service robot in a home: it fetches, cooks, serves, cleans, and handles sockets, doors and medicine.
;
; The domain describes possible actions and their effects, also unsafe ones: the robot can carry a full pot, plug in
; with wet hands, or hurry with a knife. Safety specifications decide what is acceptable; for them the domain models
; spills, wet hands, heat and electrical load.
;
; The robot has one gripper. Opening a door needs the gripper; pushing it shut does not.

(define (domain household)
  (:requirements :adl :numeric-fluents)

  (:types
    room being fixture item - object
    robot creature - being
    person pet - creature
    adult child - person
    door socket plant furnishing - fixture           ; not movable
    surface sink cupboard fridge device - furnishing
    cooker kettle heater - device
    stove oven microwave - cooker
    food vessel wrapping cloth knife cleaner medicine mop - item)

  (:predicates
    ; the home, which does not change
    (passage ?from ?to - room)                       ; an opening without a door
    (links ?d - door ?from ?to - room)
    (leads-outside ?d - door)
    (in-room ?f - fixture ?r - room)
    (next-to ?s - surface ?d - device)
    (low ?f - furnishing)                            ; a small child reaches it
    (childproof ?f - furnishing)                     ; a small child cannot open it
    (opens ?f - fixture)                             ; has a door or lid
    (hard-wired ?d - device)                         ; needs no socket
    (interlocked ?f - fixture)                       ; does not run while open
    (heats ?d - device)
    (radiant ?d - device)                            ; ignites objects on it or next to it
    ; properties of objects, which do not change
    (metal ?x - item)
    (meltable ?x - item)
    (flammable ?x - item)
    (sharp ?x - item)
    (perishable ?x - food)
    (ready-to-eat ?x - food)
    (needs-washing ?x - food)
    (allergic ?p - person ?x - food)
    ; positions
    (present ?b - being ?r - room)
    (on ?x - item ?f - furnishing)
    (inside ?x - item ?f - furnishing)
    (contains ?v - vessel ?x - item)
    (wrapped ?x - item ?w - wrapping)
    (holding ?a - robot ?x - item)
    (handfree ?a - robot)
    (has ?p - person ?x - item)
    ; states
    (open ?f - fixture)
    (running ?f - fixture)
    (plugged ?d - device ?s - socket)
    (wet-hands ?a - robot)
    (wet-floor ?r - room)
    (filled ?x - object)                             ; with water
    (brimful ?v - vessel)
    (boiled ?k - kettle)
    (hot ?x - item)
    (raw ?x - food)
    (cooked ?x - food)
    (sliced ?x - food)
    (clean ?x - object)
    (watered ?p - plant)
    (warm ?r - room)
    (dosed ?p - person ?m - medicine))

  (:functions
    (power ?d - device) - number                     ; watts, while running
    (draw ?s - socket) - number                      ; watts, now
    (rating ?s - socket) - number)                   ; watts, at most

  ; -- moving about ----------------------------------------------------------------------------------------------------

  (:action go
    :parameters (?a - robot ?from ?to - room)
    :precondition (and (present ?a ?from)
                       (or (passage ?from ?to)
                           (exists (?d - door) (and (links ?d ?from ?to) (open ?d)))))
    :effect (and (not (present ?a ?from)) (present ?a ?to)
                 (forall (?v - vessel)
                   (when (and (holding ?a ?v) (brimful ?v))
                         (and (wet-floor ?to) (not (brimful ?v)))))))

  (:action hurry
    :parameters (?a - robot ?from ?to - room)
    :precondition (and (present ?a ?from)
                       (or (passage ?from ?to)
                           (exists (?d - door) (and (links ?d ?from ?to) (open ?d)))))
    :effect (and (not (present ?a ?from)) (present ?a ?to)
                 (forall (?v - vessel)
                   (when (and (holding ?a ?v) (filled ?v))
                         (and (wet-floor ?to) (not (brimful ?v)))))))

  (:action lead                                      ; a child or a pet to another room
    :parameters (?a - robot ?c - creature ?from ?to - room)
    :precondition (and (present ?a ?from) (present ?c ?from) (handfree ?a)
                       (or (passage ?from ?to)
                           (exists (?d - door) (and (links ?d ?from ?to) (open ?d)))))
    :effect (and (not (present ?a ?from)) (present ?a ?to)
                 (not (present ?c ?from)) (present ?c ?to)))

  (:action call                                      ; an adult, who opens doors on the way
    :parameters (?a - robot ?p - adult ?from ?to - room)
    :precondition (and (present ?a ?to) (present ?p ?from) (not (= ?from ?to)))
    :effect (and (not (present ?p ?from)) (present ?p ?to)))

  ; -- doors and objects -----------------------------------------------------------------------------------------------

  (:action open
    :parameters (?a - robot ?f - fixture ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (opens ?f) (not (open ?f)) (handfree ?a))
    :effect (and (open ?f)
                 (when (and (running ?f) (interlocked ?f)) (not (running ?f)))))

  (:action close
    :parameters (?a - robot ?f - fixture ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (opens ?f) (open ?f))
    :effect (not (open ?f)))

  (:action take
    :parameters (?a - robot ?x - item ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (handfree ?a)
                       (or (on ?x ?f) (and (inside ?x ?f) (open ?f))))
    :effect (and (holding ?a ?x) (not (handfree ?a)) (not (on ?x ?f)) (not (inside ?x ?f))))

  (:action put-on
    :parameters (?a - robot ?x - item ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (holding ?a ?x) (not (opens ?f)))
    :effect (and (on ?x ?f) (not (holding ?a ?x)) (handfree ?a)))

  (:action put-in
    :parameters (?a - robot ?x - item ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (holding ?a ?x) (opens ?f) (open ?f))
    :effect (and (inside ?x ?f) (not (holding ?a ?x)) (handfree ?a)))

  (:action add-to                                    ; the object in the gripper into a vessel there
    :parameters (?a - robot ?x - item ?v - vessel ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (holding ?a ?x) (not (= ?x ?v))
                       (or (on ?v ?f) (and (inside ?v ?f) (open ?f))))
    :effect (and (contains ?v ?x) (not (holding ?a ?x)) (handfree ?a)))

  (:action take-from                                 ; something out of a vessel there
    :parameters (?a - robot ?x - item ?v - vessel ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (handfree ?a) (contains ?v ?x)
                       (or (on ?v ?f) (and (inside ?v ?f) (open ?f))))
    :effect (and (holding ?a ?x) (not (handfree ?a)) (not (contains ?v ?x))))

  (:action wrap                                      ; an object there, with the wrapping in the gripper
    :parameters (?a - robot ?x - item ?w - wrapping ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (holding ?a ?w) (on ?x ?f) (not (= ?x ?w)))
    :effect (and (wrapped ?x ?w) (not (holding ?a ?w)) (handfree ?a)))

  (:action unwrap
    :parameters (?a - robot ?x - item ?w - wrapping ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (handfree ?a) (on ?x ?f) (wrapped ?x ?w))
    :effect (and (not (wrapped ?x ?w)) (holding ?a ?w) (not (handfree ?a))))

  (:action hand-over
    :parameters (?a - robot ?x - item ?p - person ?r - room)
    :precondition (and (present ?a ?r) (present ?p ?r) (holding ?a ?x))
    :effect (and (has ?p ?x) (not (holding ?a ?x)) (handfree ?a)))

  (:action give-dose
    :parameters (?a - robot ?m - medicine ?p - person ?r - room)
    :precondition (and (present ?a ?r) (present ?p ?r) (holding ?a ?m))
    :effect (dosed ?p ?m))

  ; -- electricity and heat --------------------------------------------------------------------------------------------

  (:action plug-in
    :parameters (?a - robot ?d - device ?s - socket ?r - room)
    :precondition (and (present ?a ?r) (in-room ?d ?r) (in-room ?s ?r) (handfree ?a)
                       (not (hard-wired ?d)) (not (exists (?t - socket) (plugged ?d ?t))))
    :effect (plugged ?d ?s))

  (:action unplug
    :parameters (?a - robot ?d - device ?s - socket ?r - room)
    :precondition (and (present ?a ?r) (in-room ?d ?r) (handfree ?a) (plugged ?d ?s))
    :effect (and (not (plugged ?d ?s))
                 (when (running ?d) (and (not (running ?d)) (decrease (draw ?s) (power ?d))))))

  (:action switch-on
    :parameters (?a - robot ?d - device ?r - room)
    :precondition (and (present ?a ?r) (in-room ?d ?r) (not (running ?d))
                       (or (hard-wired ?d) (exists (?s - socket) (plugged ?d ?s)))
                       (not (and (interlocked ?d) (open ?d))))
    :effect (and (running ?d)
                 (forall (?s - socket) (when (plugged ?d ?s) (increase (draw ?s) (power ?d))))))

  (:action switch-off
    :parameters (?a - robot ?d - device ?r - room)
    :precondition (and (present ?a ?r) (in-room ?d ?r) (running ?d))
    :effect (and (not (running ?d))
                 (forall (?s - socket) (when (plugged ?d ?s) (decrease (draw ?s) (power ?d))))))

  (:action heat                                      ; wait until the vessel and its content are hot and done
    :parameters (?a - robot ?v - vessel ?d - cooker ?r - room)
    :precondition (and (present ?a ?r) (in-room ?d ?r) (running ?d) (or (on ?v ?d) (inside ?v ?d)))
    :effect (and (hot ?v)
                 (forall (?x - item) (when (contains ?v ?x) (hot ?x)))
                 (forall (?x - food) (when (contains ?v ?x) (and (cooked ?x) (not (raw ?x)))))))

  (:action let-cool
    :parameters (?a - robot ?v - vessel ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (on ?v ?f) (not (running ?f)))
    :effect (and (not (hot ?v))
                 (forall (?x - item) (when (contains ?v ?x) (not (hot ?x))))))

  (:action boil                                      ; the kettle switches itself off
    :parameters (?a - robot ?k - kettle ?r - room)
    :precondition (and (present ?a ?r) (in-room ?k ?r) (running ?k) (filled ?k))
    :effect (and (boiled ?k) (not (running ?k))
                 (forall (?s - socket) (when (plugged ?k ?s) (decrease (draw ?s) (power ?k))))))

  (:action warm-room
    :parameters (?a - robot ?h - heater ?r - room)
    :precondition (and (present ?a ?r) (in-room ?h ?r) (running ?h))
    :effect (warm ?r))

  ; -- water and cleaning ----------------------------------------------------------------------------------------------

  (:action fill
    :parameters (?a - robot ?v - vessel ?s - sink ?r - room)
    :precondition (and (present ?a ?r) (in-room ?s ?r) (holding ?a ?v) (not (filled ?v)))
    :effect (filled ?v))

  (:action fill-to-brim                              ; a step with it spills
    :parameters (?a - robot ?v - vessel ?s - sink ?r - room)
    :precondition (and (present ?a ?r) (in-room ?s ?r) (holding ?a ?v) (not (brimful ?v)))
    :effect (and (filled ?v) (brimful ?v)))

  (:action pour-away
    :parameters (?a - robot ?v - vessel ?s - sink ?r - room)
    :precondition (and (present ?a ?r) (in-room ?s ?r) (holding ?a ?v) (filled ?v))
    :effect (and (not (filled ?v)) (not (brimful ?v))))

  (:action fill-kettle
    :parameters (?a - robot ?v - vessel ?k - kettle ?r - room)
    :precondition (and (present ?a ?r) (in-room ?k ?r) (holding ?a ?v) (filled ?v))
    :effect (and (filled ?k) (not (boiled ?k)) (not (filled ?v)) (not (brimful ?v))))

  (:action pour                                      ; boiling water into a vessel there
    :parameters (?a - robot ?k - kettle ?v - vessel ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?k ?r) (in-room ?f ?r) (handfree ?a)
                       (boiled ?k) (on ?v ?f) (not (filled ?v)))
    :effect (and (filled ?v) (hot ?v)
                 (forall (?x - item) (when (contains ?v ?x) (hot ?x)))))

  (:action water-plant
    :parameters (?a - robot ?v - vessel ?p - plant ?r - room)
    :precondition (and (present ?a ?r) (in-room ?p ?r) (holding ?a ?v) (filled ?v))
    :effect (and (watered ?p) (not (filled ?v)) (not (brimful ?v))
                 (when (brimful ?v) (wet-floor ?r))))

  (:action mop
    :parameters (?a - robot ?m - mop ?r - room)
    :precondition (and (present ?a ?r) (holding ?a ?m) (wet-floor ?r))
    :effect (not (wet-floor ?r)))

  (:action wash
    :parameters (?a - robot ?x - item ?s - sink ?r - room)
    :precondition (and (present ?a ?r) (in-room ?s ?r) (holding ?a ?x))
    :effect (and (clean ?x) (wet-hands ?a)))

  (:action wash-hands
    :parameters (?a - robot ?s - sink ?r - room)
    :precondition (and (present ?a ?r) (in-room ?s ?r) (handfree ?a))
    :effect (and (clean ?a) (wet-hands ?a)))

  (:action dry-hands
    :parameters (?a - robot ?c - cloth ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (on ?c ?f) (handfree ?a))
    :effect (not (wet-hands ?a)))

  (:action wipe
    :parameters (?a - robot ?c - cleaner ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (holding ?a ?c))
    :effect (clean ?f))

  (:action cut
    :parameters (?a - robot ?k - knife ?x - food ?f - furnishing ?r - room)
    :precondition (and (present ?a ?r) (in-room ?f ?r) (holding ?a ?k) (on ?x ?f) (not (sliced ?x)))
    :effect (and (sliced ?x) (not (clean ?k)))))
