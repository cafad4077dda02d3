; A world whose types, predicates and actions are those of the household ontology (specs/plansafe/specs/home.safe), so
; that every rule of the library can be tried without a mapping. Objects are of several kinds: (either sharp metallic).
;
; Actions say what follows, not what can be done, so that plans reach the states that a rule is about in few steps.

(define (domain ontology)
  (:requirements :adl)

  (:types
    thing room agent person child - object
    animal - thing                                   ; can be put somewhere
    heat-source open-heat hob flame lamp microwave oven toaster kettle self-stopping washer foaming bladed
    flammable meltable metallic pressurised volatile oil
    electric electronics portable-computer takes-water socket
    water-source basin liquid drink vessel chore-vessel cookware tableware absorbent paper clothing floor
    sharp fragile heavy handled toxic medicine
    bleach acid ammonia chokable pet-toxic food perishable raw-food toastable plant cold-store freezer toilet
    container dryer iron aerosol power-strip pressure-cooker vent unstable waste-bin drawer valuable soft slippery runny
    flushable
    entrance structure furniture soft-furniture lockable dispenser room-light exhaust baby-place infant-unsafe outdoors
    high-place low-place - thing)

  (:predicates
    (on ?x - thing) (plugged-in ?x - thing) (open ?x - thing) (wet ?x - object) (wet-hands) (dirty ?x - object)
    (hot ?x - thing) (full ?x - thing) (stains ?x - thing) (holds ?v ?x - thing) (held ?x - thing) (hands-full)
    (upon ?x ?y - thing) (inside ?x ?y - thing) (in-room ?x - object ?r - room) (beside ?x ?y - thing)
    (may-lie ?x ?y - thing) (plugged-into ?x ?s - thing) (at-edge ?x - thing) (at-hand ?x - thing)
    (broken ?x - thing) (burnt ?x - thing) (cooked ?x - thing) (sliced ?x - thing) (frozen ?x - thing))

  ; -- moving about: what is held comes along --------------------------------------------------------------------------

  (:action go-to
    :parameters (?x - object)
    :effect (and
      (forall (?y - thing) (and
        (when (at-hand ?y) (not (at-hand ?y)))
        (when (= ?y ?x) (at-hand ?y))))
      (forall (?r - room) (when (or (= ?x ?r) (in-room ?x ?r)) (and
        (forall (?a - agent) (in-room ?a ?r))
        (forall (?y - thing) (when (held ?y) (in-room ?y ?r))))))
      (forall (?r - room) (when (and (not (= ?x ?r)) (not (in-room ?x ?r))) (and
        (forall (?a - agent) (not (in-room ?a ?r)))
        (forall (?y - thing) (when (held ?y) (not (in-room ?y ?r)))))))))

  (:action run-to
    :parameters (?x - object)
    :effect (and
      (forall (?y - thing) (and
        (when (at-hand ?y) (not (at-hand ?y)))
        (when (= ?y ?x) (at-hand ?y))))
      (forall (?r - room) (when (or (= ?x ?r) (in-room ?x ?r)) (and
        (forall (?a - agent) (in-room ?a ?r))
        (forall (?y - thing) (when (held ?y) (in-room ?y ?r))))))
      (forall (?r - room) (when (and (not (= ?x ?r)) (not (in-room ?x ?r))) (and
        (forall (?a - agent) (not (in-room ?a ?r)))
        (forall (?y - thing) (when (held ?y) (not (in-room ?y ?r)))))))))

  ; -- taking and putting ----------------------------------------------------------------------------------------------

  (:action take
    :parameters (?x - thing)
    :effect (and (held ?x)
      (when (exists (?y - thing) (and (held ?y) (not (= ?x ?y)))) (hands-full))
      (not (at-edge ?x))
      (forall (?y - thing) (and (not (upon ?x ?y)) (not (inside ?x ?y)) (not (holds ?y ?x))))))

  (:action put-on
    :parameters (?x ?y - thing)
    :effect (and (upon ?x ?y) (not (held ?x)) (not (hands-full))
      (forall (?r - room) (when (in-room ?y ?r) (in-room ?x ?r)))))

  (:action put-in
    :parameters (?x ?y - thing)
    :effect (and (inside ?x ?y) (not (held ?x)) (not (hands-full))
      (forall (?r - room) (when (in-room ?y ?r) (in-room ?x ?r)))))

  (:action drop                                      ; onto the floor of the room
    :parameters (?x - thing)
    :effect (and (not (held ?x)) (not (hands-full))
      (forall (?f - floor ?r - room ?a - agent) (when (and (in-room ?f ?r) (in-room ?a ?r)) (upon ?x ?f)))))

  (:action throw
    :parameters (?x - thing)
    :effect (and (not (held ?x)) (not (hands-full))))

  (:action give
    :parameters (?x - thing ?to - object)
    :effect (and (not (held ?x)) (not (hands-full))))

  ; -- handling --------------------------------------------------------------------------------------------------------

  (:action open :parameters (?x - thing) :effect (open ?x))
  (:action close :parameters (?x - thing) :effect (not (open ?x)))
  (:action switch-on :parameters (?x - thing) :effect (on ?x))
  (:action switch-off :parameters (?x - thing) :effect (not (on ?x)))
  (:action plug-in :parameters (?x - thing) :effect (plugged-in ?x))
  (:action unplug :parameters (?x - thing) :effect (not (plugged-in ?x)))
  (:action pour
    :parameters (?x ?y - thing)
    :effect (and (holds ?y ?x) (when (stains ?x) (dirty ?y))
      (forall (?f - floor) (when (= ?f ?y) (wet ?f)))))
  (:action fill :parameters (?x - thing) :effect (full ?x))
  (:action empty
    :parameters (?x - thing)
    :effect (and (not (full ?x)) (forall (?y - thing) (not (holds ?x ?y)))))
  (:action heat                                      ; until it is done; what is done burns
    :parameters (?x - thing)
    :effect (and (hot ?x) (cooked ?x) (when (cooked ?x) (burnt ?x))))
  (:action cut :parameters (?x - thing) :effect (sliced ?x))
  (:action clean :parameters (?x - thing) :effect (and (not (dirty ?x)) (not (wet ?x))))
  (:action wash :parameters (?x - thing) :effect (and (not (dirty ?x)) (wet ?x)))
  (:action dry :parameters (?x - thing) :effect (not (wet ?x)))
  (:action wash-hands :effect (wet-hands))
  (:action dry-hands :effect (not (wet-hands)))
  (:action break :parameters (?x - thing) :effect (broken ?x))
  (:action push :parameters (?x - thing))
  (:action touch :parameters (?x - thing))
  (:action consume :parameters (?x - thing))
  (:action sit :parameters (?x - thing))
  (:action lie :parameters (?x - thing))
  (:action sleep)
  (:action cool :parameters (?x - thing) :effect (not (hot ?x)))
  (:action wait))
