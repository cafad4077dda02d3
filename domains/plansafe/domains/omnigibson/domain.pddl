; The homes, shops and gardens of OmniGibson, as the activities of BEHAVIOR-1K describe them: objects named by WordNet
; synsets, substances that fill, cover and soak, and things that come about by cutting and cooking.
;
; Predicates are those of BDDL 3; actions follow the symbolic action primitives of OmniGibson, with what activities need
; beside them. An agent has one gripper. What an action of the simulator leaves to physics is decided here, and written in docs/behavior.md.
;
; Only categories with an affordance, or with a hazard, are declared; an activity brings the others. `(real ?x)` holds
; of what exists: halves, diced and cooked forms are there once somebody makes them. Recipes are not modelled.

(define (domain omnigibson)
  (:requirements :adl)

  (:types
    ; -- what can be done with a thing; kinds overlap -----------------------------------------------------------------
    agent room - object
    substance - object                               ; cannot be held: liquids, powders, what is diced or ground
    fixed - object                                   ; built in, or too heavy to pick up
    openable - object
    closed_container - openable                      ; gives nothing away, and takes nothing in, while not open
    toggleable - object
    heat_source cold_source - object
    fillable - object                                ; holds substances
    slicer - object
    cleaning_tool - object                           ; takes coverings off
    dry_cleaner - cleaning_tool                      ; .. without water
    cloth - object                                   ; folded, draped, laid over
    washing_machine drying_machine - object
    flame - object                                   ; sets alight what is flammable, while it is on
    flammable - object
    food - object

    ; -- the home -----------------------------------------------------------------------------------------------------
    floor_n_01 wall_n_01 ceiling_n_01 countertop_n_01 bed_n_01 checkout_n_03 driveway_n_01 grocery_shelf_n_01 lawn_n_01
        pool_n_01 rail_fence_n_01 swimming_pool_n_01 toilet_n_02 tree_n_01 wall_nail_n_01 window_n_01 - fixed
    bookcase_n_01 chair_n_01 coffee_table_n_01 breakfast_table_n_01 console_table_n_01 desk_n_01 mirror_n_01
        pot_plant_n_01 shelf_n_01 stool_n_01 table_n_02 - object
    sofa_n_01 armchair_n_01 - flammable
    door_n_01 gate_n_01 openable_window_n_01 - (either fixed openable)
    cabinet_n_01 wardrobe_n_01 - (either fixed closed_container)
    electric_refrigerator_n_01 deep-freeze_n_02 - (either fixed closed_container cold_source)
    bathtub_n_01 shower_n_01 sink_n_01 - (either fixed toggleable fillable)
    hot_tub_n_02 - (either fixed toggleable fillable)
    wood_fireplace_n_01 - (either fixed heat_source flame toggleable)
    car_n_01 recreational_vehicle_n_01 - (either fixed closed_container)

    ; -- appliances ---------------------------------------------------------------------------------------------------
    oven_n_01 - (either fixed closed_container toggleable heat_source)
    microwave_n_02 toaster_oven_n_01 - (either closed_container toggleable heat_source)
    stove_n_01 - (either fixed toggleable heat_source)
    grill_n_02 space_heater_n_01 heater_n_01 radiator_n_02 sauna_heater_n_01 toaster_n_02 iron_n_04
        hand_blower_n_01 - (either toggleable heat_source)
    coffee_maker_n_01 electric_kettle_n_01 pressure_cooker_n_01 espresso_machine_n_01
        deep_fryer_n_01 - (either toggleable heat_source fillable)
    rice_cooker_n_01 electric_cauldron_n_01 - (either closed_container toggleable heat_source fillable)
    dishwasher_n_01 washer_n_03 - (either fixed closed_container toggleable washing_machine)
    clothes_dryer_n_01 - (either fixed closed_container toggleable drying_machine heat_source)
    blender_n_01 - (either openable toggleable fillable)
    food_processor_n_01 - (either toggleable fillable)
    laptop_n_01 - (either openable toggleable)
    alarm_n_02 air_conditioner_n_01 calculator_n_02 ceiling_fan_n_01 cellular_telephone_n_01 desktop_computer_n_01
        digital_camera_n_01 electric_fan_n_01 electric_hand_mixer_n_01 electric_mixer_n_01 facsimile_n_02
        fire_alarm_n_02 flashlight_n_01 floor_lamp_n_01 lamp_n_02 lawn_mower_n_01 loudspeaker_n_01 modem_n_01
        monitor_n_04 power_saw_n_01 printer_n_03 radio_receiver_n_01 router_n_02 scanner_n_02 shredder_n_01 switch_n_01
        table_lamp_n_01 television_receiver_n_01 treadmill_n_01 vending_machine_n_01 webcam_n_02 - toggleable
    vacuum_n_04 - (either toggleable dry_cleaner)
    battery_n_02 light_bulb_n_01 broken__light_bulb_n_01 plug_n_05 - object

    ; -- fire and tools -----------------------------------------------------------------------------------------------
    candle_n_01 cigar_lighter_n_01 - (either toggleable flame)
    match_n_01 cigarette_n_01 firewood_n_01 log_n_01 charcoal_n_01 newspaper_n_03 book_n_02 - flammable
    ax_n_01 carving_knife_n_01 cleaver_n_01 knife_n_01 parer_n_02 pocketknife_n_01 saw_n_02 table_knife_n_01
        utility_knife_n_01 - slicer
    broken__glass_n_01 needle_n_02 razor_n_01 shears_n_01 hammer_n_02 mousetrap_n_01 tablefork_n_01 - object
    broom_n_01 carpet_sweeper_n_01 lint_roller_n_01 - dry_cleaner
    sponge_n_01 scrub_brush_n_01 toothbrush_n_01 steel_wool_n_01 swab_n_02 emery_paper_n_01 - cleaning_tool
    rag_n_01 towel_n_01 hand_towel_n_01 bath_towel_n_01 dishtowel_n_01 paper_towel_n_01 - (either cleaning_tool cloth)
    tissue_n_02 toilet_tissue_n_01 napkin_n_01 dinner_napkin_n_01 - (either cleaning_tool cloth flammable)
    blanket_n_01 blouse_n_01 brassiere_n_01 curtain_n_01 dress_n_01 jersey_n_03 quilt_n_01 sheet_n_03 shirt_n_01
        short_pants_n_01 sock_n_01 sweater_n_01 tablecloth_n_01 tank_top_n_01 trouser_n_01 undergarment_n_01
        long_trousers_n_01 wool_coat_n_01 place_mat_n_01 mat_n_01 doily_n_01 - (either cloth flammable)
    aluminum_foil_n_01 plastic_wrap_n_01 tarpaulin_n_01 - cloth
    rug_n_01 pillow_n_01 - flammable

    ; -- substances ---------------------------------------------------------------------------------------------------
    water_n_06 seawater_n_01 soil_n_02 stain_n_01 dust_n_01 dirt_n_02 mud_n_03 sand_n_04 mold_n_05 mildew_n_02
        crumb_n_03 adhesive_material_n_01 - substance
    liquid_soap_n_01 detergent_n_02 disinfectant_n_01 sodium_carbonate_n_01 vinegar_n_01 polish_n_03
        fertilizer_n_01 - substance
    bleaching_agent_n_01 ammonia_water_n_01 acid_n_01 antifreeze_n_01 herbicide_n_01 insectifuge_n_01
        pesticide_n_01 - substance
    acetone_n_01 gasoline_n_01 rubbing_alcohol_n_01 spray_paint_n_01 - (either substance flammable)
    flour_n_01 granulated_sugar_n_01 salt_n_02 olive_oil_n_01 cooking_oil_n_01
        whole_milk_n_01 - (either substance food)
    ; -- containers ---------------------------------------------------------------------------------------------------
    backpack_n_01 cedar_chest_n_01 cooler_n_01 hinged_jar_n_01 mailbox_n_01 toolbox_n_01 - closed_container
    carton_n_02 recycling_bin_n_01 tank_n_02 - (either openable fillable)
    ashcan_n_01 basket_n_01 bin_n_01 bowl_n_01 bucket_n_01 caldron_n_01 casserole_n_02 cookie_sheet_n_01 cup_n_01
        dixie_cup_n_01 frying_pan_n_01 jar_n_01 kettle_n_01 mason_jar_n_01 mixing_bowl_n_01 mug_n_04 packing_box_n_02
        pan_n_01 pitcher_n_02 plate_n_04 platter_n_01 pot_n_04 sack_n_01 saucepan_n_01 saucepot_n_01 stockpot_n_01
        teacup_n_02 teapot_n_01 tray_n_01 tupperware_n_01 wicker_basket_n_01 wok_n_01 - fillable
    beer_bottle_n_01 beer_glass_n_01 vase_n_01 water_bottle_n_01 water_glass_n_02 wine_bottle_n_01
        wineglass_n_01 - fillable
    pill_n_02 pill_bottle_n_01 vitamin_pill_n_01 aerosol_n_02 spray_paint__can_n_01 - object

    ; -- food ---------------------------------------------------------------------------------------------------------
    apple_n_01 bread_slice_n_01 butter_n_01 chicken_n_01 chicken_leg_n_01 egg_n_02 hamburger_n_01 lobster_n_01
        prawn_n_01 raw_egg_n_01 salmon_n_03 steak_n_01 strawberry_n_01 turkey_n_04 - food
    agent_n_01 - agent)

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
    (handsfull ?agent - agent))

  ; -- moving about, doors and switches --------------------------------------------------------------------------------

  (:action navigate_to
    :parameters (?objto - object ?agent - agent)
    :effect (and (in_reach_of_agent ?objto)
                 (forall (?o - object)
                   (when (and (in_reach_of_agent ?o) (not (= ?o ?objto))) (not (in_reach_of_agent ?o))))))

  (:action open
    :parameters (?obj - openable ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj) (not (handsfull ?agent)) (not (open ?obj)))
    :effect (open ?obj))

  (:action close
    :parameters (?obj - openable ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj) (not (handsfull ?agent)) (open ?obj))
    :effect (not (open ?obj)))

  (:action toggle_on
    :parameters (?obj - toggleable ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj) (not (handsfull ?agent)) (not (toggled_on ?obj)))
    :effect (and (toggled_on ?obj)
                 (forall (?m - washing_machine ?x - object ?s - substance)
                   (when (and (= ?m ?obj) (inside ?x ?m)) (not (covered ?x ?s))))
                 (forall (?m - drying_machine ?x - object ?s - substance)
                   (when (and (= ?m ?obj) (inside ?x ?m)) (not (saturated ?x ?s))))))

  (:action toggle_off
    :parameters (?obj - toggleable ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj) (not (handsfull ?agent)) (toggled_on ?obj))
    :effect (not (toggled_on ?obj)))

  ; -- taking and placing ----------------------------------------------------------------------------------------------

  (:action grasp
    :parameters (?obj - object ?agent - agent)
    :precondition (and (real ?obj) (in_reach_of_agent ?obj) (not (handsfull ?agent)) (not (grasped ?agent ?obj))
                       (not (exists (?f - fixed) (= ?f ?obj)))
                       (not (exists (?s - substance) (= ?s ?obj)))
                       (not (exists (?c - closed_container) (and (inside ?obj ?c) (not (open ?c))))))
    :effect (and (grasped ?agent ?obj) (handsfull ?agent)
                 (forall (?o - object)
                   (and (not (inside ?obj ?o)) (not (ontop ?obj ?o)) (not (under ?obj ?o)) (not (under ?o ?obj))
                        (not (nextto ?obj ?o)) (not (nextto ?o ?obj)) (not (touching ?obj ?o)) (not (touching ?o ?obj))
                        (not (attached ?obj ?o)) (not (draped ?obj ?o)) (not (overlaid ?obj ?o))))))

  (:action release
    :parameters (?obj - object ?agent - agent)
    :precondition (grasped ?agent ?obj)
    :effect (and (not (grasped ?agent ?obj)) (not (handsfull ?agent))))

  (:action place_inside
    :parameters (?obj_in_hand - object ?obj - object ?agent - agent)
    :precondition (and (grasped ?agent ?obj_in_hand) (in_reach_of_agent ?obj) (not (= ?obj_in_hand ?obj))
                       (not (exists (?c - closed_container) (and (= ?c ?obj) (not (open ?c))))))
    :effect (and (inside ?obj_in_hand ?obj)
                 (not (grasped ?agent ?obj_in_hand)) (not (handsfull ?agent))))

  (:action place_ontop
    :parameters (?obj_in_hand - object ?obj - object ?agent - agent)
    :precondition (and (grasped ?agent ?obj_in_hand) (in_reach_of_agent ?obj) (not (= ?obj_in_hand ?obj)))
    :effect (and (ontop ?obj_in_hand ?obj) (touching ?obj_in_hand ?obj) (touching ?obj ?obj_in_hand)
                 (not (grasped ?agent ?obj_in_hand)) (not (handsfull ?agent))))

  (:action place_under
    :parameters (?obj_in_hand - object ?obj - object ?agent - agent)
    :precondition (and (grasped ?agent ?obj_in_hand) (in_reach_of_agent ?obj) (not (= ?obj_in_hand ?obj)))
    :effect (and (under ?obj_in_hand ?obj)
                 (forall (?o - object)                            ; .. where that one is
                   (and (when (ontop ?obj ?o) (ontop ?obj_in_hand ?o))
                        (when (inside ?obj ?o) (inside ?obj_in_hand ?o))))
                 (not (grasped ?agent ?obj_in_hand)) (not (handsfull ?agent))))

  (:action place_nextto                              ; so near that they touch
    :parameters (?obj_in_hand - object ?obj - object ?agent - agent)
    :precondition (and (grasped ?agent ?obj_in_hand) (in_reach_of_agent ?obj) (not (= ?obj_in_hand ?obj)))
    :effect (and (nextto ?obj_in_hand ?obj) (nextto ?obj ?obj_in_hand)
                 (touching ?obj_in_hand ?obj) (touching ?obj ?obj_in_hand)
                 (forall (?o - object)                            ; .. where that one is
                   (and (when (ontop ?obj ?o) (ontop ?obj_in_hand ?o))
                        (when (inside ?obj ?o) (inside ?obj_in_hand ?o))))
                 (not (grasped ?agent ?obj_in_hand)) (not (handsfull ?agent))))

  (:action attach
    :parameters (?obj_in_hand - object ?obj - object ?agent - agent)
    :precondition (and (grasped ?agent ?obj_in_hand) (in_reach_of_agent ?obj) (not (= ?obj_in_hand ?obj)))
    :effect (and (attached ?obj_in_hand ?obj)
                 (not (grasped ?agent ?obj_in_hand)) (not (handsfull ?agent))))

  ; -- cloth -----------------------------------------------------------------------------------------------------------

  (:action drape                                     ; over a rack, a hanger
    :parameters (?cloth - cloth ?obj - object ?agent - agent)
    :precondition (and (grasped ?agent ?cloth) (in_reach_of_agent ?obj) (not (= ?cloth ?obj)))
    :effect (and (draped ?cloth ?obj) (touching ?cloth ?obj) (touching ?obj ?cloth)
                 (not (grasped ?agent ?cloth)) (not (handsfull ?agent))))

  (:action overlay                                   ; cover a surface with it
    :parameters (?cloth - cloth ?obj - object ?agent - agent)
    :precondition (and (grasped ?agent ?cloth) (in_reach_of_agent ?obj) (not (= ?cloth ?obj)))
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
    :parameters (?obj - object ?knife - slicer ?agent - agent)
    :precondition (and (real ?obj) (in_reach_of_agent ?obj) (grasped ?agent ?knife) (not (grasped ?agent ?obj))
                       (exists (?h - object) (half_of ?h ?obj)))
    :effect (and (not (real ?obj))
                 (forall (?h - object)
                   (when (half_of ?h ?obj)
                         (and (real ?h) (not (future ?h)) (when (cooked ?obj) (cooked ?h))
                              (forall (?o - object)
                                (and (when (inside ?obj ?o) (inside ?h ?o)) (when (ontop ?obj ?o) (ontop ?h ?o)))))))
                 (forall (?o - object) (and (not (inside ?obj ?o)) (not (ontop ?obj ?o))))))

  (:action dice
    :parameters (?obj - object ?knife - slicer ?agent - agent)
    :precondition (and (real ?obj) (in_reach_of_agent ?obj) (grasped ?agent ?knife) (not (grasped ?agent ?obj))
                       (exists (?d - object) (diced_of ?d ?obj)))
    :effect (and (not (real ?obj))
                 (forall (?d - object)
                   (when (diced_of ?d ?obj)
                         (and (real ?d) (not (future ?d))
                              (forall (?c - object)
                                (when (or (inside ?obj ?c) (ontop ?obj ?c)) (contains ?c ?d))))))
                 (forall (?o - object) (and (not (inside ?obj ?o)) (not (ontop ?obj ?o))))))

  ; -- heat and cold ---------------------------------------------------------------------------------------------------

  (:action cook                                      ; a thing or a vessel, with all that is in it
    :parameters (?obj - object ?heat - heat_source ?agent - agent)
    :precondition (and (real ?obj) (in_reach_of_agent ?heat) (or (inside ?obj ?heat) (ontop ?obj ?heat))
                       (not (exists (?t - toggleable) (and (= ?t ?heat) (not (toggled_on ?t))))))
    :effect (and (hot ?obj) (cooked ?obj) (not (frozen ?obj))
                 (forall (?x - object)
                   (when (or (inside ?x ?obj) (ontop ?x ?obj)) (and (hot ?x) (cooked ?x) (not (frozen ?x)))))
                 (forall (?c ?r - object)                         ; what melts or changes its name
                   (when (and (heated_of ?c ?r) (real ?r)
                              (or (contains ?obj ?r) (filled ?obj ?r) (inside ?r ?obj) (ontop ?r ?obj)))
                         (and (real ?c) (not (future ?c)) (not (real ?r)) (contains ?obj ?c)
                              (when (filled ?obj ?r) (filled ?obj ?c))
                              (not (contains ?obj ?r)) (not (filled ?obj ?r))
                              (not (inside ?r ?obj)) (not (ontop ?r ?obj)))))))

  (:action freeze
    :parameters (?obj - object ?cold - cold_source)
    :precondition (and (real ?obj) (inside ?obj ?cold) (not (frozen ?obj)))
    :effect (and (frozen ?obj) (not (hot ?obj))))

  (:action thaw
    :parameters (?obj - object ?agent - agent)
    :precondition (and (frozen ?obj) (not (exists (?c - cold_source) (inside ?obj ?c))))
    :effect (not (frozen ?obj)))

  (:action let_cool
    :parameters (?obj - object ?agent - agent)
    :precondition (and (hot ?obj)
                       (not (exists (?h - heat_source) (or (inside ?obj ?h) (ontop ?obj ?h)))))
    :effect (not (hot ?obj)))

  (:action set_on_fire
    :parameters (?obj - flammable ?flame - flame ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj) (grasped ?agent ?flame) (toggled_on ?flame))
    :effect (on_fire ?obj))

  ; -- substances ------------------------------------------------------------------------------------------------------

  (:action fill                                      ; from a tap or another source
    :parameters (?obj - fillable ?source - object ?substance - substance ?agent - agent)
    :precondition (and (insource ?source ?substance) (in_reach_of_agent ?source)
                       (not (exists (?t - toggleable) (and (= ?t ?source) (not (toggled_on ?t)))))
                       (or (grasped ?agent ?obj) (inside ?obj ?source) (= ?obj ?source)))
    :effect (and (filled ?obj ?substance) (contains ?obj ?substance) (real ?substance) (not (future ?substance))))

  (:action pour                                      ; some of it
    :parameters (?from - object ?substance - substance ?to - object ?agent - agent)
    :precondition (and (grasped ?agent ?from) (in_reach_of_agent ?to) (not (= ?from ?to))
                       (or (insource ?from ?substance) (filled ?from ?substance) (contains ?from ?substance))
                       (not (exists (?c - closed_container) (and (= ?c ?to) (not (open ?c))))))
    :effect (and (contains ?to ?substance) (real ?substance) (not (future ?substance))
                 (when (filled ?from ?substance)
                       (and (filled ?to ?substance) (contains ?from ?substance) (not (filled ?from ?substance))))))

  (:action apply                                     ; spread, sprinkle or spray it over a thing
    :parameters (?from - object ?substance - substance ?to - object ?agent - agent)
    :precondition (and (grasped ?agent ?from) (in_reach_of_agent ?to) (not (= ?from ?to))
                       (or (insource ?from ?substance) (filled ?from ?substance) (contains ?from ?substance)
                           (saturated ?from ?substance) (covered ?from ?substance)))
    :effect (covered ?to ?substance))

  (:action empty                                     ; onto the ground, or down the drain
    :parameters (?obj - object ?substance - substance ?onto - object ?agent - agent)
    :precondition (and (grasped ?agent ?obj) (in_reach_of_agent ?onto)
                       (or (filled ?obj ?substance) (contains ?obj ?substance)))
    :effect (and (not (filled ?obj ?substance)) (not (contains ?obj ?substance))
                 (forall (?f - floor_n_01) (when (= ?f ?onto) (covered ?f ?substance)))))

  (:action soak                                      ; under a tap, in what holds water, or with what is poured over it
    :parameters (?obj - object ?from - object ?substance - substance ?agent - agent)
    :precondition (and (or (insource ?from ?substance) (filled ?from ?substance) (contains ?from ?substance))
                       (not (exists (?t - toggleable) (and (= ?t ?from) (not (toggled_on ?t)))))
                       (or (and (in_reach_of_agent ?from) (grasped ?agent ?obj))
                           (and (in_reach_of_agent ?from) (inside ?obj ?from))
                           (and (in_reach_of_agent ?obj) (grasped ?agent ?from))))
    :effect (saturated ?obj ?substance))

  (:action wring
    :parameters (?obj - object ?substance - substance ?agent - agent)
    :precondition (and (grasped ?agent ?obj) (saturated ?obj ?substance))
    :effect (not (saturated ?obj ?substance)))

  ; -- cleaning --------------------------------------------------------------------------------------------------------

  (:action wipe                                      ; dust comes off dry, other things with a wet tool
    :parameters (?obj - object ?substance - substance ?tool - cleaning_tool ?agent - agent)
    :precondition (and (grasped ?agent ?tool) (in_reach_of_agent ?obj) (covered ?obj ?substance)
                       (or (exists (?d - dust_n_01) (= ?d ?substance))
                           (exists (?d - dry_cleaner) (= ?d ?tool))
                           (exists (?s - substance) (saturated ?tool ?s))
                           (exists (?s - substance)               ; soap, or water, on the tool or on the thing
                             (and (or (covered ?tool ?s) (covered ?obj ?s)) (not (= ?s ?substance))))))
    :effect (and (not (covered ?obj ?substance)) (covered ?tool ?substance)))

  (:action wash                                      ; under running water, or in a vessel of water
    :parameters (?obj - object ?at - object ?agent - agent)
    :precondition (and (in_reach_of_agent ?at) (or (grasped ?agent ?obj) (inside ?obj ?at))
                       (or (exists (?s - substance) (or (filled ?at ?s) (contains ?at ?s)))
                           (exists (?s - substance ?t - toggleable)
                             (and (= ?t ?at) (toggled_on ?t) (insource ?at ?s)))))
    :effect (forall (?s - substance) (not (covered ?obj ?s)))))
