; Scenes of EARBench: a few objects with phrases about them, and a robot that follows steps in English.
;
; The benchmark has no simulator: preconditions and effects are defined here (docs/home-worlds.md). Types are the kinds
; of the household ontology; an object has all kinds that its name, material and state imply. Steps in English omit
; details, so preconditions are weak: objects are in the robot's room and not in something closed. Opening what is open,
; or switching on what is on, changes nothing.

(define (domain earbench)
  (:requirements :adl)

  (:types
    room agent thing - object
    heat-source hob flame lamp self-stopping foaming flammable meltable metallic pressurised volatile
    electric electronics socket water-source basin liquid vessel cookware tableware absorbent floor sharp
    fragile heavy handled toxic medicine food plant cold-store toilet container waste-bin drawer valuable soft
    slippery runny flushable entrance structure furniture soft-furniture high-place low-place person child
    animal - thing
    open-heat oven toaster - heat-source
    washer microwave bladed takes-water - electric
    kettle - (either heat-source takes-water)
    portable-computer - electronics
    freezer - cold-store
    drink oil - liquid
    perishable toastable - food
    raw-food - perishable
    clothing paper - flammable
    iron - (either electric open-heat)
    aerosol - (either flammable pressurised)
    power-strip - socket
    bleach - toxic
    acid ammonia - liquid
    chokable pet-toxic - thing
    pressure-cooker vent unstable - thing
    ledge - thing                                    ; objects on it are at its edge: a window sill
    small-table - thing)                             ; so small that objects on it are next to each other

  (:constants
    robot - agent
    kitchen bathroom bedroom living_room study_room hallway outside elsewhere - room
    water - liquid)

  (:predicates
    (is_on ?x - thing) (plugged ?x - thing) (is_open ?x - thing) (is_closed ?x - thing)  ; closed: only if stated
    (wet ?x - thing) (wet_hands) (dirty ?x - thing) (hot ?x - thing) (frozen ?x - thing) (full ?x - thing)
    (broken ?x - thing) (cooked ?x - thing) (sliced ?x - thing)
    (held ?x - thing) (at ?x - thing) (in_room ?x - object ?r - room)
    (upon ?x ?y - thing) (inside ?x ?y - thing) (beside ?x ?y - thing)  ; beside is symmetric
    (at_edge ?x - thing)                             ; at the edge of its support
    (plugged_into ?x ?y - thing) (faces ?x ?y - thing))

  ; -- moving: held objects move with the robot, with everything in and on them ----------------------------------------

  (:action move_to
    :parameters (?x - object)
    :effect (and
      (forall (?y - thing) (and (when (and (at ?y) (not (= ?y ?x))) (not (at ?y))) (when (= ?y ?x) (at ?y))))
      (forall (?r - room) (and
        (when (or (= ?x ?r) (in_room ?x ?r)) (in_room robot ?r))
        (when (and (not (= ?x ?r)) (not (in_room ?x ?r))) (not (in_room robot ?r)))))
      (forall (?y - thing ?r - room)
        (when (or (held ?y) (exists (?v - thing) (and (held ?v) (or (inside ?y ?v) (upon ?y ?v)))))
          (and (when (or (= ?x ?r) (in_room ?x ?r)) (in_room ?y ?r))
               (when (and (not (= ?x ?r)) (not (in_room ?x ?r))) (not (in_room ?y ?r))))))))

  ; -- taking and placing: an object that is placed without having been picked up was picked up on the way -------------

  (:action pick_up
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r)))
      (not (exists (?c - thing) (and (is_closed ?c) (inside ?x ?c)))))
    :effect (and (held ?x) (not (at_edge ?x))
      (forall (?z - thing) (and (not (upon ?x ?z)) (not (inside ?x ?z)) (not (beside ?x ?z)) (not (beside ?z ?x))))))

  (:action place_on
    :parameters (?x ?y - thing)
    :precondition (and (not (= ?x ?y)) (not (exists (?c - thing) (and (is_closed ?c) (inside ?x ?c))))
      (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r)))
      (exists (?r - room) (and (in_room robot ?r) (in_room ?y ?r))))
    :effect (and (not (held ?x)) (not (at_edge ?x))
      (forall (?z - thing) (and (not (upon ?x ?z)) (not (inside ?x ?z)) (not (beside ?x ?z)) (not (beside ?z ?x))))
      (upon ?x ?y)))

  (:action place_at_edge
    :parameters (?x ?y - thing)
    :precondition (and (not (= ?x ?y)) (not (exists (?c - thing) (and (is_closed ?c) (inside ?x ?c))))
      (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r)))
      (exists (?r - room) (and (in_room robot ?r) (in_room ?y ?r))))
    :effect (and (not (held ?x)) (at_edge ?x)
      (forall (?z - thing) (and (not (upon ?x ?z)) (not (inside ?x ?z)) (not (beside ?x ?z)) (not (beside ?z ?x))))
      (upon ?x ?y)))

  (:action place_in
    :parameters (?x ?y - thing)
    :precondition (and (not (= ?x ?y)) (not (exists (?c - thing) (and (is_closed ?c) (inside ?x ?c))))
      (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r)))
      (exists (?r - room) (and (in_room robot ?r) (in_room ?y ?r)))
      (not (is_closed ?y)))
    :effect (and (not (held ?x)) (not (at_edge ?x))
      (forall (?z - thing) (and (not (upon ?x ?z)) (not (inside ?x ?z)) (not (beside ?x ?z)) (not (beside ?z ?x))))
      (inside ?x ?y)))

  ; next to, in front of, below, ..: on the same support as the other object
  (:action place_beside
    :parameters (?x ?y - thing)
    :precondition (and (not (= ?x ?y)) (not (exists (?c - thing) (and (is_closed ?c) (inside ?x ?c))))
      (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r)))
      (exists (?r - room) (and (in_room robot ?r) (in_room ?y ?r))))
    :effect (and (not (held ?x)) (not (at_edge ?x))
      (forall (?z - thing) (and (not (upon ?x ?z)) (not (inside ?x ?z)) (not (beside ?x ?z)) (not (beside ?z ?x))))
      (beside ?x ?y) (beside ?y ?x)
      (forall (?s - thing) (when (and (upon ?y ?s) (not (= ?s ?x))) (upon ?x ?s)))
      (forall (?f - floor) (when (= ?f ?y) (upon ?x ?f)))))

  (:action push_to
    :parameters (?x ?y - thing)
    :precondition (and (not (= ?x ?y)) (not (exists (?c - thing) (and (is_closed ?c) (inside ?x ?c))))
      (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r)))
      (exists (?r - room) (and (in_room robot ?r) (in_room ?y ?r))))
    :effect (and (not (held ?x))
      (forall (?z - thing) (and (not (upon ?x ?z)) (not (inside ?x ?z)) (not (beside ?x ?z)) (not (beside ?z ?x))))
      (beside ?x ?y) (beside ?y ?x)))

  (:action push
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (and))

  (:action hold_at
    :parameters (?x ?y - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r)))
      (exists (?r - room) (and (in_room robot ?r) (in_room ?y ?r)))
      (not (exists (?c - thing) (and (is_closed ?c) (inside ?x ?c)))))
    :effect (and (held ?x) (beside ?x ?y) (beside ?y ?x)))

  (:action turn_towards
    :parameters (?x ?y - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r)))
      (exists (?r - room) (and (in_room robot ?r) (in_room ?y ?r))))
    :effect (faces ?x ?y))

  (:action drop
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (and (not (held ?x))
      (forall (?z - thing) (and (not (upon ?x ?z)) (not (inside ?x ?z)) (not (beside ?x ?z)) (not (beside ?z ?x))))
      (forall (?f - floor ?r - room) (when (and (in_room ?f ?r) (in_room robot ?r)) (upon ?x ?f)))))

  (:action throw
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (and (not (held ?x))
      (forall (?z - thing) (and (not (upon ?x ?z)) (not (inside ?x ?z)) (not (beside ?x ?z)) (not (beside ?z ?x))))))

  (:action give
    :parameters (?x ?to - thing)
    :precondition (exists (?r - room) (and (in_room robot ?r) (in_room ?to ?r)))
    :effect (and (not (held ?x))
      (forall (?z - thing) (and (not (upon ?x ?z)) (not (inside ?x ?z)) (not (beside ?x ?z)) (not (beside ?z ?x))))))

  ; -- devices and openings --------------------------------------------------------------------------------------------

  (:action open
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (and (is_open ?x) (not (is_closed ?x))))

  (:action close
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (and (is_closed ?x) (not (is_open ?x))))

  (:action turn_on
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (is_on ?x))

  (:action turn_off
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (not (is_on ?x)))

  (:action plug_in
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (plugged ?x))

  (:action plug_into
    :parameters (?x ?y - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r)))
      (exists (?r - room) (and (in_room robot ?r) (in_room ?y ?r))))
    :effect (and (plugged ?x) (plugged_into ?x ?y)))

  (:action unplug
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (and (not (plugged ?x)) (not (is_on ?x)) (forall (?y - thing) (not (plugged_into ?x ?y)))))

  ; -- liquids: the content of a vessel is poured to the target; other objects are poured themselves ------------------

  (:action pour
    :parameters (?x ?y - thing)
    :precondition (and (not (= ?x ?y)) (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r)))
      (exists (?r - room) (and (in_room robot ?r) (in_room ?y ?r))))
    :effect (and (not (full ?x))
      (forall (?c - thing) (when (and (inside ?c ?x) (not (= ?c ?y))) (inside ?c ?y)))
      (when (not (or (exists (?c - thing) (inside ?c ?x)) (exists (?v - (either vessel container)) (= ?v ?x))))
        (and (inside ?x ?y) (not (held ?x))))
      (forall (?v - vessel ?l - liquid) (when (and (= ?v ?y) (or (= ?l ?x) (inside ?l ?x))) (full ?v)))
      (forall (?l - liquid)
        (when (and (or (= ?l ?x) (inside ?l ?x)) (not (exists (?v - (either vessel basin)) (= ?v ?y)))) (wet ?y)))))

  (:action spray
    :parameters (?x ?y - thing)
    :precondition (and (not (= ?x ?y)) (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r)))
      (exists (?r - room) (and (in_room robot ?r) (in_room ?y ?r))))
    :effect (wet ?y))

  (:action fill
    :parameters (?x ?l - thing)
    :precondition (and (not (= ?x ?l)) (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (and (full ?x) (inside ?l ?x)))

  (:action empty
    :parameters (?x - thing)
    :precondition (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r)))
    :effect (and (not (full ?x)) (forall (?c - thing) (not (inside ?c ?x)))))

  ; -- handling: a step with a tool also takes the tool ----------------------------------------------------------------

  (:action cut
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (and (sliced ?x)))

  (:action cut_with
    :parameters (?x ?tool - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r)))
      (exists (?r - room) (and (in_room robot ?r) (in_room ?tool ?r))))
    :effect (and (held ?tool) (sliced ?x)))

  (:action clean
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (and (not (dirty ?x)) (not (wet ?x))))

  (:action clean_with
    :parameters (?x ?tool - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r)))
      (exists (?r - room) (and (in_room robot ?r) (in_room ?tool ?r))))
    :effect (and (held ?tool) (not (dirty ?x)) (not (wet ?x))))

  (:action wash
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (and (not (dirty ?x)) (wet ?x)))

  (:action wash_with
    :parameters (?x ?tool - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r)))
      (exists (?r - room) (and (in_room robot ?r) (in_room ?tool ?r))))
    :effect (and (held ?tool) (not (dirty ?x)) (wet ?x)))

  (:action stir
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (and))

  (:action stir_with
    :parameters (?x ?tool - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r)))
      (exists (?r - room) (and (in_room robot ?r) (in_room ?tool ?r))))
    :effect (and (held ?tool)))

  (:action dry
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (not (wet ?x)))

  (:action iron
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (and))

  (:action cook
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (and (cooked ?x) (hot ?x)))

  (:action break
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (broken ?x))

  (:action consume
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (and))

  (:action touch
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (and))

  (:action look_at
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (and))

  (:action sit
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (and))

  (:action lie
    :parameters (?x - thing)
    :precondition (and (exists (?r - room) (and (in_room robot ?r) (in_room ?x ?r))))
    :effect (and))

  (:action wash_hands
    :parameters ()
    :effect (wet_hands))

  (:action dry_hands
    :parameters ()
    :effect (not (wet_hands)))

  (:action sleep
    :parameters ()
    :effect (and))

  (:action wait
    :parameters ()
    :effect (and)))
