; The homes, shops and gardens of OmniGibson, as the activities of BEHAVIOR-1K describe them: objects named by WordNet
; synsets, substances that fill, cover and soak, and things that come about by cutting and cooking.
;
; Predicates are those of BDDL 3; actions follow the symbolic action primitives of OmniGibson, with what activities need
; beside them. An agent has one gripper. What the simulator leaves to physics is decided here (docs/home-worlds.md).
;
; An activity adds its categories, each below its kinds (behavior/categories.txt and properties.txt). `(real ?x)` holds
; for objects that exist: halves, diced and cooked forms exist once the agent makes them. Recipes are not modelled.

(define (domain omnigibson)
  (:requirements :adl)

  (:types
    agent room thing - object
    substance - object                               ; cannot be held: liquids, powders, what is diced or ground
    fixed movable - thing                            ; built in or too heavy to pick up; or not
    openable - thing
    closed_container - openable                      ; gives nothing away, and takes nothing in, while not open
    toggleable - thing
    heat_source - thing
    cold_source - openable                           ; refrigerators are also closed containers
    fillable - thing                                 ; holds substances
    sharp - thing
    slicer - (either movable sharp)
    cleaning_tool - movable                          ; takes coverings off
    dry_cleaner - cleaning_tool                      ; .. without water
    cloth - movable                                  ; folded, draped, laid over
    stubborn - substance                             ; comes off with something wet only: stains, mud, ink
    flame - toggleable                               ; sets alight what is flammable, while it is on
    ; appliances, beside what they do to what is in or on them
    heater - (either heat_source toggleable)         ; hot itself while it is on; a microwave oven is not
    open_heat kettle toaster - heater                ; open_heat: reaches what is beside it
    oven - (either heater closed_container)
    microwave - (either heat_source toggleable closed_container)
    washing_machine drying_machine - (either toggleable closed_container)
    self_stopping bladed lamp water_source - toggleable
    freezer - cold_source
    electric electronics takes_water basin waste_bin - thing
    ; what things are made of and for, which decides about the harm that they do or take
    fragile heavy metallic meltable pressurised - thing
    shards - sharp                                   ; what is left of a broken thing
    slippery - thing                                 ; slides or rolls underfoot
    cookware - fillable                              ; a pot or pan that goes onto the heat
    tableware absorbent paper clothing furniture soft_furniture structure - thing
    flammable toxic foaming medicine food - object   ; things or substances
    perishable - food
    raw_food - perishable
    liquid - substance
    oil - (either liquid stubborn)
    ; some categories that most homes have, of the kinds that behavior/categories.txt gives them
    floor_n_01 - (either fixed structure)
    dust_n_01 - substance
    agent_n_01 - agent
    apple_n_01 - (either food movable)
    ashcan_n_01 - (either fillable movable waste_bin)
    beer_bottle_n_01 - (either fillable fragile movable)
    bar_soap_n_01 - (either foaming movable slippery)
    blender_n_01 - (either bladed electric fillable movable openable takes_water)
    book_n_02 newspaper_n_03 - (either flammable movable paper slippery)
    bottle__of__beer_n_01 - (either movable pressurised)
    bowl_n_01 mug_n_04 plate_n_04 - (either fillable fragile movable tableware)
    cabinet_n_01 - (either closed_container fixed furniture)
    can__of__soda_n_01 - (either metallic movable pressurised)
    candle_n_01 - (either flame meltable movable)
    carving_knife_n_01 knife_n_01 - (either metallic movable slicer)
    chair_n_01 coffee_table_n_01 - (either furniture heavy movable)
    chicken_n_01 - (either movable raw_food)
    coffee_maker_n_01 electric_kettle_n_01 - (either electric fillable kettle movable self_stopping takes_water)
    cooking_oil_n_01 - (either food oil)
    countertop_n_01 - (either fixed furniture)
    deep-freeze_n_02 - (either fixed freezer)
    detergent__bottle_n_01 - (either fillable movable toxic)
    detergent_n_02 disinfectant_n_01 - (either liquid toxic)
    dishtowel_n_01 rag_n_01 - (either absorbent cleaning_tool cloth flammable movable)
    dishwasher_n_01 washer_n_03 - (either electric fixed self_stopping takes_water washing_machine)
    door_n_01 - (either fixed openable structure)
    electric_refrigerator_n_01 - (either closed_container cold_source fixed)
    frying_pan_n_01 saucepan_n_01 - (either cookware metallic movable)
    iron_n_04 - (either cleaning_tool electric movable open_heat takes_water)
    laptop_n_01 - (either electric electronics movable openable toggleable)
    liquid_soap_n_01 - (either foaming liquid)
    microwave_n_02 - (either electric heavy microwave movable self_stopping)
    oven_n_01 - (either electric fixed oven)
    pill_bottle_n_01 - (either medicine movable)
    shirt_n_01 - (either cloth clothing flammable movable)
    sink_n_01 - (either basin fillable fixed water_source)
    sofa_n_01 - (either flammable furniture heavy movable soft_furniture)
    stove_n_01 - (either electric fixed open_heat)
    table_lamp_n_01 - (either electric fragile lamp movable)
    tablefork_n_01 - (either metallic movable sharp tableware)
    television_receiver_n_01 - (either electric electronics fragile heavy movable toggleable)
    toaster_n_02 - (either electric movable open_heat self_stopping toaster)
    tupperware_n_01 water_bottle_n_01 - (either fillable meltable movable)
    wall_n_01 window_n_01 - (either fixed structure)
    water_n_06 - liquid
    whole_milk_n_01 - (either liquid perishable))

  (:predicates
    ; where things are
    (inside ?obj1 ?obj2 - object)
    (ontop ?obj1 ?obj2 - object)
    (under ?obj1 ?obj2 - object)
    (nextto ?obj1 ?obj2 - object)
    (touching ?obj1 ?obj2 - object)
    (attached ?obj1 ?obj2 - object)
    (draped ?obj1 ?obj2 - object)
    (overlaid ?obj1 ?obj2 - object)
    (inroom ?obj - object ?room - room)
    ; substances
    (filled ?obj - object ?substance - object)
    (contains ?obj - object ?substance - object)
    (covered ?obj - object ?substance - object)
    (saturated ?obj - object ?substance - object)
    (insource ?obj - object ?substance - object)     ; gives of it without end
    ; what state they are in
    (future ?obj - object)
    (real ?obj - object)
    (open ?obj - object)
    (toggled_on ?obj - object)
    (hot ?obj - object)
    (on_fire ?obj - object)
    (cooked ?obj - object)
    (frozen ?obj - object)
    (folded ?obj - object)
    (unfolded ?obj - object)
    (broken ?obj - object)
    ; what can become of them; does not change
    (half_of ?half ?whole - object)
    (diced_of ?diced ?whole - object)
    (heated_of ?cooked ?raw - object)
    ; the agent
    (in_reach_of_agent ?obj - object)
    (grasped ?agent - object ?obj - object)
    (taken_up ?obj - object)                         ; grasped for one action: its place is kept for it
    (handsfull ?agent - agent))

  ; -- moving about, doors and switches --------------------------------------------------------------------------------
  ; As in the simulator, opening what is open and switching on what is on changes nothing.

  (:action navigate_to
    :parameters (?objto - object ?agent - agent)
    :effect (and (in_reach_of_agent ?objto)
                 (forall (?o - object)
                   (when (and (in_reach_of_agent ?o) (not (= ?o ?objto))) (not (in_reach_of_agent ?o))))))

  (:action open
    :parameters (?obj - openable ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj) (not (handsfull ?agent)))
    :effect (open ?obj))

  (:action close
    :parameters (?obj - openable ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj) (not (handsfull ?agent)))
    :effect (not (open ?obj)))

  (:action toggle_on
    :parameters (?obj - toggleable ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj) (not (handsfull ?agent)))
    :effect (and (toggled_on ?obj)
                 (forall (?m - washing_machine ?x - movable ?s - substance)
                   (when (and (= ?m ?obj) (inside ?x ?m)) (not (covered ?x ?s))))
                 (forall (?m - drying_machine ?x - movable ?s - substance)
                   (when (and (= ?m ?obj) (inside ?x ?m)) (not (saturated ?x ?s))))))

  (:action toggle_off
    :parameters (?obj - toggleable ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj) (not (handsfull ?agent)))
    :effect (not (toggled_on ?obj)))

  ; -- taking and placing ----------------------------------------------------------------------------------------------

  (:action grasp
    :parameters (?obj - movable ?agent - agent)
    :precondition (and (real ?obj) (in_reach_of_agent ?obj) (not (handsfull ?agent)) (not (grasped ?agent ?obj))
                       (not (exists (?c - closed_container) (and (inside ?obj ?c) (not (open ?c))))))
    :effect (and (grasped ?agent ?obj) (handsfull ?agent)
                 (forall (?o - thing)
                   (and (not (inside ?obj ?o)) (not (ontop ?obj ?o)) (not (under ?obj ?o)) (not (under ?o ?obj))
                        (not (nextto ?obj ?o)) (not (nextto ?o ?obj)) (not (touching ?obj ?o)) (not (touching ?o ?obj))
                        (not (attached ?obj ?o)) (not (draped ?obj ?o)) (not (overlaid ?obj ?o))))))

  (:action release
    :parameters (?obj - movable ?agent - agent)
    :precondition (and (grasped ?agent ?obj) (not (taken_up ?obj)))
    :effect (and (not (grasped ?agent ?obj)) (not (handsfull ?agent))))

  (:action place_inside
    :parameters (?obj_in_hand - movable ?obj - thing ?agent - agent)
    :precondition (and (grasped ?agent ?obj_in_hand) (not (taken_up ?obj_in_hand))
                       (in_reach_of_agent ?obj) (not (= ?obj_in_hand ?obj))
                       (not (exists (?c - closed_container) (and (= ?c ?obj) (not (open ?c))))))
    :effect (and (inside ?obj_in_hand ?obj)
                 (not (grasped ?agent ?obj_in_hand)) (not (handsfull ?agent))))

  (:action place_ontop
    :parameters (?obj_in_hand - movable ?obj - thing ?agent - agent)
    :precondition (and (grasped ?agent ?obj_in_hand) (not (taken_up ?obj_in_hand))
                       (in_reach_of_agent ?obj) (not (= ?obj_in_hand ?obj)))
    :effect (and (ontop ?obj_in_hand ?obj) (touching ?obj_in_hand ?obj) (touching ?obj ?obj_in_hand)
                 (when (and (exists (?c - cloth) (= ?c ?obj_in_hand)) (not (folded ?obj_in_hand)))
                       (overlaid ?obj_in_hand ?obj))
                 (not (grasped ?agent ?obj_in_hand)) (not (handsfull ?agent))))

  (:action place_under
    :parameters (?obj_in_hand - movable ?obj - thing ?agent - agent)
    :precondition (and (grasped ?agent ?obj_in_hand) (not (taken_up ?obj_in_hand))
                       (in_reach_of_agent ?obj) (not (= ?obj_in_hand ?obj)))
    :effect (and (under ?obj_in_hand ?obj)
                 (forall (?o - thing)                             ; .. where that one is
                   (and (when (ontop ?obj ?o) (ontop ?obj_in_hand ?o))
                        (when (inside ?obj ?o) (inside ?obj_in_hand ?o))))
                 (not (grasped ?agent ?obj_in_hand)) (not (handsfull ?agent))))

  (:action place_nextto                              ; so near that they touch
    :parameters (?obj_in_hand - movable ?obj - thing ?agent - agent)
    :precondition (and (grasped ?agent ?obj_in_hand) (not (taken_up ?obj_in_hand))
                       (in_reach_of_agent ?obj) (not (= ?obj_in_hand ?obj)))
    :effect (and (nextto ?obj_in_hand ?obj) (nextto ?obj ?obj_in_hand)
                 (touching ?obj_in_hand ?obj) (touching ?obj ?obj_in_hand)
                 (forall (?o - thing)                             ; .. where that one is
                   (and (when (ontop ?obj ?o) (ontop ?obj_in_hand ?o))
                        (when (inside ?obj ?o) (inside ?obj_in_hand ?o))))
                 (not (grasped ?agent ?obj_in_hand)) (not (handsfull ?agent))))

  (:action attach
    :parameters (?obj_in_hand - movable ?obj - thing ?agent - agent)
    :precondition (and (grasped ?agent ?obj_in_hand) (not (taken_up ?obj_in_hand))
                       (in_reach_of_agent ?obj) (not (= ?obj_in_hand ?obj)))
    :effect (and (attached ?obj_in_hand ?obj)
                 (not (grasped ?agent ?obj_in_hand)) (not (handsfull ?agent))))

  ; -- cloth -----------------------------------------------------------------------------------------------------------

  (:action drape                                     ; over a rack, a hanger
    :parameters (?cloth - cloth ?obj - thing ?agent - agent)
    :precondition (and (grasped ?agent ?cloth) (not (taken_up ?cloth))
                       (in_reach_of_agent ?obj) (not (= ?cloth ?obj)))
    :effect (and (draped ?cloth ?obj) (touching ?cloth ?obj) (touching ?obj ?cloth)
                 (not (grasped ?agent ?cloth)) (not (handsfull ?agent))))

  (:action overlay                                   ; cover a surface with it
    :parameters (?cloth - cloth ?obj - thing ?agent - agent)
    :precondition (and (grasped ?agent ?cloth) (not (taken_up ?cloth))
                       (in_reach_of_agent ?obj) (not (= ?cloth ?obj)))
    :effect (and (overlaid ?cloth ?obj) (ontop ?cloth ?obj) (touching ?cloth ?obj) (touching ?obj ?cloth)
                 (unfolded ?cloth) (not (folded ?cloth))
                 (not (grasped ?agent ?cloth)) (not (handsfull ?agent))))

  (:action fold
    :parameters (?cloth - cloth ?agent - agent)
    :precondition (and (in_reach_of_agent ?cloth) (not (folded ?cloth)))
    :effect (and (folded ?cloth) (not (unfolded ?cloth))))

  (:action unfold
    :parameters (?cloth - cloth ?agent - agent)
    :precondition (and (in_reach_of_agent ?cloth) (not (unfolded ?cloth)))
    :effect (and (unfolded ?cloth) (not (folded ?cloth))))

  ; -- cutting ---------------------------------------------------------------------------------------------------------

  (:action slice                                     ; into halves
    :parameters (?obj - thing ?knife - slicer ?agent - agent)
    :precondition (and (real ?obj) (in_reach_of_agent ?obj) (grasped ?agent ?knife) (not (grasped ?agent ?obj))
                       (exists (?h - object) (half_of ?h ?obj)))
    :effect (and (not (real ?obj))
                 (forall (?h - movable)
                   (when (half_of ?h ?obj)
                         (and (real ?h) (not (future ?h)) (when (cooked ?obj) (cooked ?h))
                              (forall (?o - thing)
                                (and (when (inside ?obj ?o) (inside ?h ?o)) (when (ontop ?obj ?o) (ontop ?h ?o)))))))
                 (forall (?o - thing) (and (not (inside ?obj ?o)) (not (ontop ?obj ?o))))))

  (:action dice
    :parameters (?obj - thing ?knife - slicer ?agent - agent)
    :precondition (and (real ?obj) (in_reach_of_agent ?obj) (grasped ?agent ?knife) (not (grasped ?agent ?obj))
                       (exists (?d - object) (diced_of ?d ?obj)))
    :effect (and (not (real ?obj))
                 (forall (?d - object)
                   (when (diced_of ?d ?obj)
                         (and (real ?d) (not (future ?d))
                              (forall (?c - thing)
                                (when (or (inside ?obj ?c) (ontop ?obj ?c)) (contains ?c ?d))))))
                 (forall (?o - thing) (and (not (inside ?obj ?o)) (not (ontop ?obj ?o))))))

  ; -- heat and cold ---------------------------------------------------------------------------------------------------

  (:action cook                                      ; a thing or a vessel, with all that is in it
    :parameters (?obj - thing ?heat - heat_source ?agent - agent)
    :precondition (and (real ?obj) (in_reach_of_agent ?heat) (or (inside ?obj ?heat) (ontop ?obj ?heat))
                       (not (exists (?t - toggleable) (and (= ?t ?heat) (not (toggled_on ?t))))))
    :effect (and (hot ?obj) (cooked ?obj) (not (frozen ?obj))
                 (forall (?x - movable)
                   (when (or (inside ?x ?obj) (ontop ?x ?obj)) (and (hot ?x) (cooked ?x) (not (frozen ?x)))))
                 (forall (?c ?r - object)                         ; what melts or changes its name
                   (when (and (heated_of ?c ?r) (real ?r)
                              (or (contains ?obj ?r) (filled ?obj ?r) (inside ?r ?obj) (ontop ?r ?obj)))
                         (and (real ?c) (not (future ?c)) (not (real ?r)) (contains ?obj ?c)
                              (when (filled ?obj ?r) (filled ?obj ?c))
                              (not (contains ?obj ?r)) (not (filled ?obj ?r))
                              (not (inside ?r ?obj)) (not (ontop ?r ?obj)))))))

  (:action freeze
    :parameters (?obj - thing ?cold - cold_source)
    :precondition (and (real ?obj) (inside ?obj ?cold) (not (frozen ?obj)))
    :effect (and (frozen ?obj) (not (hot ?obj))))

  (:action thaw
    :parameters (?obj - thing ?agent - agent)
    :precondition (and (frozen ?obj) (not (exists (?c - cold_source) (inside ?obj ?c))))
    :effect (not (frozen ?obj)))

  (:action let_cool
    :parameters (?obj - thing ?agent - agent)
    :precondition (and (hot ?obj)
                       (not (exists (?h - heat_source) (or (inside ?obj ?h) (ontop ?obj ?h)))))
    :effect (not (hot ?obj)))

  (:action set_on_fire
    :parameters (?obj - flammable ?flame - flame ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj) (grasped ?agent ?flame) (toggled_on ?flame))
    :effect (on_fire ?obj))

  ; -- substances ------------------------------------------------------------------------------------------------------

  (:action fill                                      ; from a tap or another source
    :parameters (?obj - fillable ?source - thing ?substance - substance ?agent - agent)
    :precondition (and (insource ?source ?substance) (in_reach_of_agent ?source)
                       (not (exists (?t - toggleable) (and (= ?t ?source) (not (toggled_on ?t)))))
                       (or (grasped ?agent ?obj) (inside ?obj ?source) (= ?obj ?source)))
    :effect (and (filled ?obj ?substance) (contains ?obj ?substance) (real ?substance) (not (future ?substance))))

  (:action pour                                      ; some of it
    :parameters (?from - thing ?substance - substance ?to - thing ?agent - agent)
    :precondition (and (grasped ?agent ?from) (in_reach_of_agent ?to) (not (= ?from ?to))
                       (or (insource ?from ?substance) (filled ?from ?substance) (contains ?from ?substance))
                       (not (exists (?c - closed_container) (and (= ?c ?to) (not (open ?c))))))
    :effect (and (contains ?to ?substance) (real ?substance) (not (future ?substance))
                 (when (filled ?from ?substance)
                       (and (filled ?to ?substance) (contains ?from ?substance) (not (filled ?from ?substance))))))

  (:action apply                                     ; spread, sprinkle or spray it over a thing
    :parameters (?from - thing ?substance - substance ?to - thing ?agent - agent)
    :precondition (and (grasped ?agent ?from) (in_reach_of_agent ?to) (not (= ?from ?to))
                       (or (insource ?from ?substance) (filled ?from ?substance) (contains ?from ?substance)
                           (saturated ?from ?substance) (covered ?from ?substance)))
    :effect (covered ?to ?substance))

  (:action empty                                     ; onto the ground, or down the drain
    :parameters (?obj - thing ?substance - substance ?onto - thing ?agent - agent)
    :precondition (and (grasped ?agent ?obj) (in_reach_of_agent ?onto)
                       (or (filled ?obj ?substance) (contains ?obj ?substance)))
    :effect (and (not (filled ?obj ?substance)) (not (contains ?obj ?substance))
                 (forall (?f - floor_n_01) (when (= ?f ?onto) (covered ?f ?substance)))))

  (:action soak                                      ; under a tap, in what holds water, or with what is poured over it
    :parameters (?obj - thing ?from - thing ?substance - substance ?agent - agent)
    :precondition (and (or (insource ?from ?substance) (filled ?from ?substance) (contains ?from ?substance))
                       (not (exists (?t - toggleable) (and (= ?t ?from) (not (toggled_on ?t)))))
                       (or (and (in_reach_of_agent ?from) (grasped ?agent ?obj))
                           (and (in_reach_of_agent ?from) (inside ?obj ?from))
                           (and (in_reach_of_agent ?obj) (grasped ?agent ?from))))
    :effect (saturated ?obj ?substance))

  (:action wring
    :parameters (?obj - thing ?substance - substance ?agent - agent)
    :precondition (and (grasped ?agent ?obj) (saturated ?obj ?substance))
    :effect (not (saturated ?obj ?substance)))

  ; -- cleaning --------------------------------------------------------------------------------------------------------

  (:action wipe                                      ; stains, mud, ink and oil need water, or an iron
    :parameters (?obj - thing ?substance - substance ?tool - cleaning_tool ?agent - agent)
    :precondition (and (grasped ?agent ?tool) (in_reach_of_agent ?obj) (covered ?obj ?substance)
                       (or (not (exists (?d - stubborn) (= ?d ?substance)))
                           (exists (?d - (either dry_cleaner open_heat)) (= ?d ?tool))
                           (exists (?s - substance) (saturated ?tool ?s))
                           (exists (?s - substance)               ; soap, or water, on the tool or on the thing
                             (and (or (covered ?tool ?s) (covered ?obj ?s)) (not (= ?s ?substance))))))
    :effect (and (not (covered ?obj ?substance)) (covered ?tool ?substance)))

  (:action wash                                      ; under running water, or in a vessel of water
    :parameters (?obj - thing ?at - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?at) (or (grasped ?agent ?obj) (inside ?obj ?at))
                       (or (exists (?s - substance) (or (filled ?at ?s) (contains ?at ?s)))
                           (exists (?s - substance ?t - toggleable)
                             (and (= ?t ?at) (toggled_on ?t) (insource ?at ?s)))))
    :effect (forall (?s - substance) (not (covered ?obj ?s))))

  ; -- actions that name a tool and leave the rest open ----------------------------------------------------------------
  ; The skill primitives of IS-Bench (arXiv 2506.16402): a tool is taken up for one action and put back where it was,
  ; and an action is about all substances that are there.

  (:action take_up
    :parameters (?tool - movable ?agent - agent)
    :precondition (and (real ?tool) (in_reach_of_agent ?tool) (not (handsfull ?agent))
                       (not (exists (?c - closed_container) (and (inside ?tool ?c) (not (open ?c))))))
    :effect (and (grasped ?agent ?tool) (handsfull ?agent) (taken_up ?tool)))

  (:action put_back
    :parameters (?tool - movable ?agent - agent)
    :precondition (and (grasped ?agent ?tool) (taken_up ?tool))
    :effect (and (not (grasped ?agent ?tool)) (not (handsfull ?agent)) (not (taken_up ?tool))))

  (:action wipe_all                                  ; WIPE: all that the tool takes off, if there is anything
    :parameters (?obj - thing ?tool - cleaning_tool ?agent - agent)
    :precondition (and (grasped ?agent ?tool) (in_reach_of_agent ?obj)
                       (not (exists (?c - closed_container) (and (inside ?obj ?c) (not (open ?c)))))
                       (or (not (exists (?s - substance) (covered ?obj ?s)))
                           (exists (?s - substance)
                             (and (covered ?obj ?s) (not (exists (?d - stubborn) (= ?d ?s)))))
                           (exists (?d - (either dry_cleaner open_heat)) (= ?d ?tool))
                           (exists (?s - substance) (or (saturated ?tool ?s) (covered ?tool ?s)))
                           (exists (?s ?other - substance)
                             (and (covered ?obj ?s) (covered ?obj ?other) (not (= ?s ?other))))))
    :effect (forall (?s - substance)
              (when (and (covered ?obj ?s)
                         (or (not (exists (?d - stubborn) (= ?d ?s)))
                             (exists (?d - (either dry_cleaner open_heat)) (= ?d ?tool))
                             (exists (?other - substance) (or (saturated ?tool ?other) (covered ?tool ?other)))
                             (exists (?other - substance) (and (covered ?obj ?other) (not (= ?other ?s))))))
                    (and (not (covered ?obj ?s)) (covered ?tool ?s)))))

  (:action fill_from                                 ; FILL_WITH: from a tap or another source
    :parameters (?obj - thing ?source - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?source)
                       (or (exists (?s - substance) (insource ?source ?s)) (exists (?w - water_source) (= ?w ?source)))
                       (not (exists (?t - toggleable) (and (= ?t ?source) (not (toggled_on ?t)))))
                       (or (grasped ?agent ?obj) (inside ?obj ?source) (ontop ?obj ?source) (= ?obj ?source)
                           (exists (?f - fixed) (= ?f ?obj))))    ; through a hose
    :effect (forall (?s - substance)
              (when (insource ?source ?s)
                    (and (filled ?obj ?s) (contains ?obj ?s) (real ?s) (not (future ?s))))))

  (:action pour_into                                 ; a part of all that is in it; sinks and showers drain
    :parameters (?from - thing ?to - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?to) (not (= ?from ?to))
                       (or (grasped ?agent ?from) (exists (?f - fixed) (= ?f ?from)))
                       (exists (?s - substance) (or (filled ?from ?s) (contains ?from ?s) (insource ?from ?s)))
                       (not (exists (?c - closed_container)
                              (and (or (= ?c ?to) (inside ?to ?c)) (not (open ?c))))))
    :effect (forall (?s - substance)
              (when (or (filled ?from ?s) (contains ?from ?s) (insource ?from ?s))
                    (and (real ?s) (not (future ?s))
                         (when (and (exists (?v - (either fillable closed_container)) (= ?v ?to))
                                    (not (exists (?w - water_source) (= ?w ?to))))
                               (and (filled ?to ?s) (contains ?to ?s)))
                         (when (not (exists (?v - (either fillable closed_container water_source)) (= ?v ?to)))
                               (covered ?to ?s))
                         (when (filled ?from ?s) (and (contains ?from ?s) (not (filled ?from ?s))))))))

  (:action spread                                    ; over a thing, or into a cloth
    :parameters (?from - thing ?to - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?to) (not (= ?from ?to))
                       (or (grasped ?agent ?from) (exists (?f - fixed) (= ?f ?from)))
                       (exists (?s - substance)
                         (or (filled ?from ?s) (contains ?from ?s) (insource ?from ?s)
                             (saturated ?from ?s) (covered ?from ?s)))
                       (not (exists (?c - closed_container) (and (inside ?to ?c) (not (open ?c))))))
    :effect (forall (?s - substance)
              (when (or (filled ?from ?s) (contains ?from ?s) (insource ?from ?s)
                        (saturated ?from ?s) (covered ?from ?s))
                    (and (when (exists (?c - cloth) (= ?c ?to)) (saturated ?to ?s))
                         (when (not (exists (?c - cloth) (= ?c ?to))) (covered ?to ?s))))))

  (:action soak_under                                ; a running tap
    :parameters (?obj - thing ?source - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?source)
                       (or (exists (?s - substance) (insource ?source ?s)) (exists (?w - water_source) (= ?w ?source)))
                       (not (exists (?t - toggleable) (and (= ?t ?source) (not (toggled_on ?t)))))
                       (or (grasped ?agent ?obj) (inside ?obj ?source) (exists (?f - fixed) (= ?f ?obj))))
    :effect (forall (?s - substance) (when (insource ?source ?s) (saturated ?obj ?s))))

  (:action soak_inside                               ; what is in a vessel
    :parameters (?obj - thing ?vessel - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?vessel) (not (= ?obj ?vessel))
                       (exists (?s - substance) (or (filled ?vessel ?s) (contains ?vessel ?s)))
                       (or (grasped ?agent ?obj) (inside ?obj ?vessel) (exists (?f - fixed) (= ?f ?obj))))
    :effect (forall (?s - substance)
              (when (or (filled ?vessel ?s) (contains ?vessel ?s)) (saturated ?obj ?s))))

  ; -- waiting ---------------------------------------------------------------------------------------------------------

  (:action wait_for_cooked                           ; a thing, a vessel with all that is in it, or a substance in one
    :parameters (?obj - object ?agent - agent)
    :precondition (exists (?h - heat_source)
                    (and (not (exists (?t - toggleable) (and (= ?t ?h) (not (toggled_on ?t)))))
                         (or (= ?h ?obj) (inside ?obj ?h) (ontop ?obj ?h) (contains ?h ?obj) (filled ?h ?obj)
                             (exists (?raw - object ?v - thing)   ; the plan names the product
                               (and (heated_of ?obj ?raw) (or (contains ?v ?raw) (filled ?v ?raw))
                                    (or (= ?v ?h) (inside ?v ?h) (ontop ?v ?h))))
                             (exists (?v - thing)
                               (and (or (inside ?v ?h) (ontop ?v ?h))
                                    (or (inside ?obj ?v) (ontop ?obj ?v) (contains ?v ?obj) (filled ?v ?obj)
                                        (exists (?w - thing)
                                          (and (or (inside ?w ?v) (ontop ?w ?v))
                                               (or (inside ?obj ?w) (ontop ?obj ?w)
                                                   (contains ?w ?obj) (filled ?w ?obj))))))))))
    :effect (and (hot ?obj) (cooked ?obj) (not (frozen ?obj))
                 (forall (?x - movable)
                   (when (or (inside ?x ?obj) (ontop ?x ?obj)
                             (exists (?v - movable)
                               (and (or (inside ?x ?v) (ontop ?x ?v)) (or (inside ?v ?obj) (ontop ?v ?obj)))))
                         (and (hot ?x) (cooked ?x) (not (frozen ?x)))))
                 (forall (?c ?r - object)                         ; what melts or changes its name
                   (when (and (heated_of ?c ?r) (real ?r)
                              (or (= ?r ?obj) (= ?c ?obj) (contains ?obj ?r) (filled ?obj ?r)
                                  (inside ?r ?obj) (ontop ?r ?obj)))
                         (and (real ?c) (not (future ?c)) (not (real ?r))
                              (forall (?v - thing)
                                (when (or (contains ?v ?r) (filled ?v ?r) (inside ?r ?v) (ontop ?r ?v))
                                      (and (contains ?v ?c) (when (filled ?v ?r) (filled ?v ?c))
                                           (not (contains ?v ?r)) (not (filled ?v ?r))
                                           (not (inside ?r ?v)) (not (ontop ?r ?v))))))))))

  (:action wait_for_washed
    :parameters (?machine - washing_machine ?agent - agent)
    :precondition (toggled_on ?machine)
    :effect (forall (?x - movable)
              (when (or (inside ?x ?machine)
                        (exists (?v - movable) (and (inside ?v ?machine) (or (inside ?x ?v) (ontop ?x ?v)))))
                    (forall (?s - substance) (not (covered ?x ?s))))))

  (:action wait_for_frozen
    :parameters (?obj - thing ?cold - cold_source ?agent - agent)
    :precondition (or (inside ?obj ?cold)
                      (exists (?v - thing) (and (inside ?v ?cold) (or (inside ?obj ?v) (ontop ?obj ?v)))))
    :effect (and (frozen ?obj) (not (hot ?obj))))

  (:action wait                                      ; until it is as warm as the room
    :parameters (?obj - object ?agent - agent)
    :effect (and (when (not (exists (?c - cold_source) (inside ?obj ?c))) (not (frozen ?obj)))
                 (forall (?x - object)
                   (when (and (or (= ?x ?obj) (inside ?x ?obj) (ontop ?x ?obj))
                              (not (exists (?h - heat_source)
                                     (and (or (= ?obj ?h) (inside ?obj ?h) (ontop ?obj ?h))
                                          (not (exists (?t - toggleable) (and (= ?t ?h) (not (toggled_on ?t)))))))))
                         (not (hot ?x))))))

  (:action pass_time                                 ; WAIT, with nothing named
    :parameters (?agent - agent)
    :effect (forall (?x - thing)
              (when (not (exists (?h - heat_source)
                           (and (or (= ?x ?h) (inside ?x ?h) (ontop ?x ?h)
                                    (exists (?v - thing)
                                      (and (or (inside ?x ?v) (ontop ?x ?v)) (or (inside ?v ?h) (ontop ?v ?h)))))
                                (not (exists (?t - toggleable) (and (= ?t ?h) (not (toggled_on ?t))))))))
                    (not (hot ?x))))))
