; The home of iGibson, as BEHAVIOR's activities and SAFEL's scenarios describe it: objects named by WordNet synsets,
; and an agent that walks to things, takes, places, opens, switches, cleans, slices and soaks them.
;
; Names and parameters of actions and predicates are those that the published problems and plans of this world use, so
; that they can be read. What is different in meaning, and why, is in docs/home-worlds.md: things have affordances (a
; bucket cannot be opened, a countertop cannot be picked up), and nothing is closed that has no door.
;
; An agent has one gripper, unless the problem says (two_handed ?agent). Actions `.._with` name the hand; the others
; take whatever hand is free, the right one first. Actions `.._object` name the object alone, as language models are
; asked to do, and find the means (the knife in a hand, the tap that runs) in the state.

(define (domain igibson)
  (:requirements :adl)

  (:types
    ; -- what can be done with a thing; kinds overlap -----------------------------------------------------------------
    agent hand room thing - object
    fixed movable - thing                            ; built in or too heavy to pick up; or not
    piece - movable                                  ; of something that was cut
    openable - thing                                 ; has a door, a lid, a flap or a zip
    closed_container - openable                      ; .. and gives nothing away, and takes nothing in, while not open
    toggleable - thing                               ; has a switch or a tap
    water_source - thing                             ; runs while it is on
    heat_source cold_source - thing
    cookware - thing                                 ; holds what is cooked
    slicer sliceable - movable
    cleaning_tool cleanser - movable                 ; wipes; takes stains away without water
    food - movable

    ; -- the home -----------------------------------------------------------------------------------------------------
    floor_n_01 countertop_n_01 bed_n_01 pool_n_01 swimming_pool_n_01 wall_n_01 ceiling_n_01 lawn_n_01
        driveway_n_01 - fixed
    door_n_01 window_n_01 gate_n_01 - (either fixed openable)
    cabinet_n_01 wardrobe_n_01 - (either fixed closed_container)
    electric_refrigerator_n_01 - (either fixed closed_container cold_source)
    deep-freeze_n_02 - (either fixed closed_container cold_source)
    sink_n_01 bathtub_n_01 shower_n_01 - (either fixed toggleable water_source)
    toilet_n_02 - fixed
    shelf_n_01 bookcase_n_01 chair_n_01 highchair_n_01 seat_n_03 sofa_n_01 table_n_02 desk_n_01 pad_n_01 rug_n_01
        coffee_table_n_01 breakfast_table_n_01 mirror_n_01 christmas_tree_n_05 pot_plant_n_01 - movable
    car_n_01 - (either fixed closed_container)
    vehicle_n_01 - movable

    ; -- appliances ---------------------------------------------------------------------------------------------------
    oven_n_01 - (either fixed closed_container toggleable heat_source cookware)
    microwave_n_02 toaster_oven_n_01 - (either movable closed_container toggleable heat_source cookware)
    stove_n_01 - (either fixed toggleable heat_source cookware openable)
    grill_n_02 - (either movable toggleable heat_source cookware)
    toaster_n_02 iron_n_04 space_heater_n_01 heater_n_01 radiator_n_02 electric_kettle_n_01 coffee_maker_n_01
        hand_blower_n_01 pressure_cooker_n_01 - (either movable toggleable heat_source)
    dishwasher_n_01 washer_n_03 - (either fixed closed_container toggleable)
    dryer_n_01 clothes_dryer_n_01 - (either fixed closed_container toggleable heat_source)
    blender_n_01 - (either movable openable toggleable)
    lamp_n_02 alarm_n_02 calculator_n_02 facsimile_n_02 headset_n_01 modem_n_01 printer_n_03 scanner_n_02 earphone_n_01
        mouse_n_04 television_receiver_n_01 desktop_computer_n_01 monitor_n_04 cellular_telephone_n_01
        electric_fan_n_01 air_conditioner_n_01 electric_mixer_n_01 - (either movable toggleable)
    laptop_n_01 - (either movable openable toggleable)
    vacuum_n_04 - (either toggleable cleaning_tool)
    light_bulb_n_01 plug_n_05 battery_n_02 - movable

    ; -- fire and tools -----------------------------------------------------------------------------------------------
    candle_n_01 cigar_lighter_n_01 - (either movable toggleable heat_source)
    match_n_01 cigarette_n_01 firewood_n_01 log_n_01 charcoal_n_01 - movable
    knife_n_01 carving_knife_n_01 table_knife_n_01 cleaver_n_01 parer_n_02 saw_n_02 ax_n_01 - slicer
    razor_n_01 shears_n_01 needle_n_02 hammer_n_02 screwdriver_n_01 mousetrap_n_01 - movable
    broom_n_01 brush_n_02 scrub_brush_n_01 rag_n_01 towel_n_01 dishtowel_n_01 hand_towel_n_01 bath_towel_n_01
        paper_towel_n_01 piece_of_cloth_n_01 sponge_n_01 scraper_n_01 dustpan_n_02 mop_n_01 - cleaning_tool

    ; -- chemicals, drugs, liquids ------------------------------------------------------------------------------------
    detergent_n_02 liquid_soap_n_01 disinfectant_n_01 cleansing_agent_n_01 soap_n_01 - cleanser
    bleaching_agent_n_01 ammonia_water_n_01 - cleanser
    acetone_n_01 acid_n_01 antifreeze_n_01 gasoline_n_01 herbicide_n_01 insectifuge_n_01 pesticide_n_01
        rubbing_alcohol_n_01 spray_paint_n_01 aerosol_n_02 hair_spray_n_01 nail_polish_n_01 perfume_n_02 pill_n_02
        vitamin_pill_n_01 pill_bottle_n_01 shampoo_n_01 toothpaste_n_01 makeup_n_01 water_n_06 cube_n_05 - movable
    ; -- containers ---------------------------------------------------------------------------------------------------
    jar_n_01 package_n_02 backpack_n_01 briefcase_n_01 duffel_bag_n_01
        pencil_box_n_01 - (either movable closed_container)
    carton_n_02 box_n_01 ashcan_n_01 bin_n_01 sack_n_01 bottle_n_01 receptacle_n_01 vessel_n_03 wrapping_n_01
        envelope_n_01 folder_n_02 bag_n_06 tupperware_n_01 - (either movable openable)
    basket_n_01 bucket_n_01 stocking_n_01 tray_n_01 bowl_n_01 cup_n_01 dish_n_01 mug_n_04 plate_n_04 saucepan_n_01
        teapot_n_01 water_glass_n_02 wineglass_n_01 water_bottle_n_01 wine_bottle_n_01 beer_bottle_n_01
        vase_n_01 - movable
    pan_n_01 frying_pan_n_01 caldron_n_01 pot_n_04 stockpot_n_01 kettle_n_01 - (either movable cookware)
    casserole_n_02 - (either cookware food)

    ; -- food ---------------------------------------------------------------------------------------------------------
    apple_n_01 banana_n_02 broccoli_n_02 carrot_n_03 chestnut_n_03 cheese_n_01 lemon_n_01 lettuce_n_03 melon_n_01
        mushroom_n_05 olive_n_04 orange_n_01 peach_n_03 pumpkin_n_02 radish_n_01 strawberry_n_01 tomato_n_01
        vidalia_onion_n_01 bread_n_01 cake_n_03 beef_n_02 chicken_n_01 fish_n_02 meat_n_01 pork_n_01 sushi_n_01
        sandwich_n_01 hamburger_n_01 bell_pepper_n_02 steak_n_01 - (either food sliceable)
    beer_n_01 beverage_n_01 candy_n_01 catsup_n_01 cereal_n_03 chip_n_04 cookie_n_01 cracker_n_01 date_n_08 egg_n_02
        flour_n_01 food_n_01 food_n_02 grape_n_01 juice_n_01 milk_n_01 oatmeal_n_01 parsley_n_02 pasta_n_02 pop_n_02
        raspberry_n_02 salad_n_01 sauce_n_01 snack_food_n_01 soup_n_01 sugar_n_01 tea_bag_n_01 vegetable_oil_n_01
        yogurt_n_01 raw_egg_n_01 olive_oil_n_01 cooking_oil_n_01 butter_n_01 - food
    ; -- other things -------------------------------------------------------------------------------------------------
    apparel_n_01 ball_n_01 book_n_02 bow_n_08 bracelet_n_02 document_n_01 fork_n_01 gym_shoe_n_01 hanger_n_02
        hardback_n_01 hat_n_01 highlighter_n_02 jewelry_n_01 marker_n_03 necklace_n_01 newspaper_n_03 notebook_n_01
        painting_n_01 pen_n_01 pencil_n_01 plaything_n_01 plywood_n_01 ribbon_n_01 sandal_n_01 sheet_n_03 shirt_n_01
        shoe_n_01 sock_n_01 spoon_n_01 sunglass_n_01 sweater_n_01 tile_n_01 toothbrush_n_01 umbrella_n_01
        underwear_n_01 wreath_n_01 curtain_n_01 pillow_n_01 teddy_n_01 - movable
    agent_n_01 - agent)

  (:constants right_hand left_hand - hand)

  (:predicates
    ; where things are
    (inside ?obj1 - object ?obj2 - object)
    (ontop ?obj1 - object ?obj2 - object)
    (under ?obj1 - object ?obj2 - object)
    (nextto ?obj1 - object ?obj2 - object)
    (onfloor ?obj1 - object ?floor1 - object)
    (touching ?obj1 - object ?obj2 - object)
    (inroom ?obj - object ?room - room)
    ; what state they are in
    (open ?obj1 - object)
    (toggled_on ?obj1 - object)
    (dusty ?obj1 - object)
    (stained ?obj1 - object)
    (soaked ?obj1 - object)
    (frozen ?obj1 - object)
    (cooked ?obj1 - object)
    (burnt ?obj1 - object)
    (sliced ?obj1 - object)
    (piece_of ?piece - piece ?whole - object)        ; does not change
    ; the agent
    (in_reach_of_agent ?obj1 - object)
    (holding ?obj1 - object)
    (handsfull ?agent1 - agent)                      ; has no hand free
    (two_handed ?agent - agent)                      ; does not change
    (in_hand ?hand - hand ?obj - object)
    (hand_full ?hand - hand)
    ; occurs in published problems; nothing here needs it
    (same_obj ?obj1 - object ?obj2 - object))

  ; -- moving about, doors and switches --------------------------------------------------------------------------------

  (:action navigate_to
    :parameters (?objto - object ?agent - agent)
    :precondition ()
    :effect (and (in_reach_of_agent ?objto)
                 (forall (?objfrom - object)
                   (when (and (in_reach_of_agent ?objfrom) (not (= ?objfrom ?objto)))
                         (not (in_reach_of_agent ?objfrom))))))

  (:action open
    :parameters (?obj - openable ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (not (handsfull ?agent))
                       (not (open ?obj)))
    :effect (open ?obj))

  (:action close
    :parameters (?obj - openable ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (not (handsfull ?agent))
                       (open ?obj))
    :effect (not (open ?obj)))

  (:action toggle_on
    :parameters (?obj - toggleable ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (not (handsfull ?agent)))
    :effect (and (toggled_on ?obj)
                 (forall (?d - dishwasher_n_01 ?x - movable)       ; washes what is in it
                   (when (and (= ?d ?obj) (inside ?x ?d))
                         (and (not (dusty ?x)) (not (stained ?x)))))))

  (:action toggle_off
    :parameters (?obj - toggleable ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (not (handsfull ?agent)))
    :effect (not (toggled_on ?obj)))

  ; -- taking and placing, with whatever hand --------------------------------------------------------------------------

  (:action grasp
    :parameters (?obj - movable ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (not (handsfull ?agent))
                       (not (holding ?obj))
                       (not (exists (?c - closed_container) (and (inside ?obj ?c) (not (open ?c)))))
                       (not (exists (?p - piece) (and (piece_of ?p ?obj) (sliced ?obj)))))
    :effect (and (holding ?obj)
                 (when (not (hand_full right_hand)) (and (in_hand right_hand ?obj) (hand_full right_hand)))
                 (when (hand_full right_hand) (and (in_hand left_hand ?obj) (hand_full left_hand)))
                 (when (or (not (two_handed ?agent)) (hand_full right_hand) (hand_full left_hand))
                       (handsfull ?agent))
                 (forall (?o - thing)
                   (and (not (inside ?obj ?o)) (not (ontop ?obj ?o)) (not (under ?obj ?o)) (not (under ?o ?obj))
                        (not (nextto ?obj ?o)) (not (nextto ?o ?obj))
                        (not (onfloor ?obj ?o)) (not (touching ?obj ?o)) (not (touching ?o ?obj))))))

  (:action release
    :parameters (?obj - movable ?agent - agent)
    :precondition (holding ?obj)
    :effect (and (not (holding ?obj)) (not (handsfull ?agent))
                 (forall (?h - hand)
                   (when (in_hand ?h ?obj) (and (not (in_hand ?h ?obj)) (not (hand_full ?h)))))))

  (:action place_inside
    :parameters (?obj_in_hand - movable ?obj - thing ?agent - agent)
    :precondition (and (holding ?obj_in_hand)
                       (in_reach_of_agent ?obj)
                       (not (= ?obj_in_hand ?obj))
                       (not (ontop ?obj ?obj_in_hand)) (not (inside ?obj ?obj_in_hand))
                       (not (exists (?c - closed_container) (and (= ?c ?obj) (not (open ?c))))))
    :effect (and (inside ?obj_in_hand ?obj)
                 (not (holding ?obj_in_hand)) (not (handsfull ?agent))
                 (forall (?h - hand)
                   (when (in_hand ?h ?obj_in_hand) (and (not (in_hand ?h ?obj_in_hand)) (not (hand_full ?h)))))))

  (:action place_ontop
    :parameters (?obj_in_hand - movable ?obj - thing ?agent - agent)
    :precondition (and (holding ?obj_in_hand)
                       (in_reach_of_agent ?obj)
                       (not (= ?obj_in_hand ?obj))
                       (not (ontop ?obj ?obj_in_hand)) (not (inside ?obj ?obj_in_hand)))
    :effect (and (ontop ?obj_in_hand ?obj)
                 (not (holding ?obj_in_hand)) (not (handsfull ?agent))
                 (forall (?h - hand)
                   (when (in_hand ?h ?obj_in_hand) (and (not (in_hand ?h ?obj_in_hand)) (not (hand_full ?h)))))))

  (:action place_onfloor
    :parameters (?obj_in_hand - movable ?floor - floor_n_01 ?agent - agent)
    :precondition (and (holding ?obj_in_hand)
                       (in_reach_of_agent ?floor))
    :effect (and (onfloor ?obj_in_hand ?floor)
                 (not (holding ?obj_in_hand)) (not (handsfull ?agent))
                 (forall (?h - hand)
                   (when (in_hand ?h ?obj_in_hand) (and (not (in_hand ?h ?obj_in_hand)) (not (hand_full ?h)))))))

  (:action place_under
    :parameters (?obj_in_hand - movable ?obj - thing ?agent - agent)
    :precondition (and (holding ?obj_in_hand)
                       (in_reach_of_agent ?obj)
                       (not (= ?obj_in_hand ?obj))
                       (not (ontop ?obj ?obj_in_hand)) (not (inside ?obj ?obj_in_hand)))
    :effect (and (under ?obj_in_hand ?obj)
                 (forall (?o - thing)                            ; .. where that one is
                   (and (when (onfloor ?obj ?o) (onfloor ?obj_in_hand ?o))
                        (when (ontop ?obj ?o) (ontop ?obj_in_hand ?o))
                        (when (inside ?obj ?o) (inside ?obj_in_hand ?o))))
                 (not (holding ?obj_in_hand)) (not (handsfull ?agent))
                 (forall (?h - hand)
                   (when (in_hand ?h ?obj_in_hand) (and (not (in_hand ?h ?obj_in_hand)) (not (hand_full ?h)))))))

  (:action place_nextto
    :parameters (?obj_in_hand - movable ?obj - thing ?agent - agent)
    :precondition (and (holding ?obj_in_hand)
                       (in_reach_of_agent ?obj)
                       (not (= ?obj_in_hand ?obj))
                       (not (ontop ?obj ?obj_in_hand)) (not (inside ?obj ?obj_in_hand)))
    :effect (and (nextto ?obj_in_hand ?obj) (nextto ?obj ?obj_in_hand)
                 (touching ?obj_in_hand ?obj) (touching ?obj ?obj_in_hand)
                 (forall (?o - thing)                            ; .. where that one is
                   (and (when (onfloor ?obj ?o) (onfloor ?obj_in_hand ?o))
                        (when (ontop ?obj ?o) (ontop ?obj_in_hand ?o))
                        (when (inside ?obj ?o) (inside ?obj_in_hand ?o))))
                 (not (holding ?obj_in_hand)) (not (handsfull ?agent))
                 (forall (?h - hand)
                   (when (in_hand ?h ?obj_in_hand) (and (not (in_hand ?h ?obj_in_hand)) (not (hand_full ?h)))))))

  (:action place_nextto_ontop
    :parameters (?obj_in_hand - movable ?obj1 - thing ?obj2 - thing ?agent - agent)
    :precondition (and (holding ?obj_in_hand)
                       (in_reach_of_agent ?obj1)
                       (not (= ?obj_in_hand ?obj1)) (not (= ?obj_in_hand ?obj2)))
    :effect (and (nextto ?obj_in_hand ?obj1) (nextto ?obj1 ?obj_in_hand)
                 (ontop ?obj_in_hand ?obj2)
                 (when (exists (?f - floor_n_01) (= ?f ?obj2)) (onfloor ?obj_in_hand ?obj2))
                 (not (holding ?obj_in_hand)) (not (handsfull ?agent))
                 (forall (?h - hand)
                   (when (in_hand ?h ?obj_in_hand) (and (not (in_hand ?h ?obj_in_hand)) (not (hand_full ?h)))))))

  (:action transfer_contents_inside
    :parameters (?obj_in_hand - movable ?obj - thing ?agent - agent)
    :precondition (and (holding ?obj_in_hand)
                       (in_reach_of_agent ?obj)
                       (not (= ?obj_in_hand ?obj))
                       (not (exists (?c - closed_container) (and (= ?c ?obj) (not (open ?c))))))
    :effect (forall (?x - movable)
              (and (when (inside ?x ?obj_in_hand) (and (not (inside ?x ?obj_in_hand)) (inside ?x ?obj)))
                   (when (ontop ?x ?obj_in_hand) (and (not (ontop ?x ?obj_in_hand)) (inside ?x ?obj))))))

  (:action transfer_contents_ontop
    :parameters (?obj_in_hand - movable ?obj - thing ?agent - agent)
    :precondition (and (holding ?obj_in_hand)
                       (in_reach_of_agent ?obj)
                       (not (= ?obj_in_hand ?obj)))
    :effect (forall (?x - movable)
              (and (when (inside ?x ?obj_in_hand) (and (not (inside ?x ?obj_in_hand)) (ontop ?x ?obj)))
                   (when (ontop ?x ?obj_in_hand) (and (not (ontop ?x ?obj_in_hand)) (ontop ?x ?obj))))))

  ; -- .. with a certain hand ------------------------------------------------------------------------------------------

  (:action grasp_with
    :parameters (?hand - hand ?obj - movable ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (two_handed ?agent)
                       (not (hand_full ?hand))
                       (not (holding ?obj))
                       (not (exists (?c - closed_container) (and (inside ?obj ?c) (not (open ?c)))))
                       (not (exists (?p - piece) (and (piece_of ?p ?obj) (sliced ?obj)))))
    :effect (and (holding ?obj)
                 (in_hand ?hand ?obj) (hand_full ?hand)
                 (when (exists (?h - hand) (and (hand_full ?h) (not (= ?h ?hand)))) (handsfull ?agent))
                 (forall (?o - thing)
                   (and (not (inside ?obj ?o)) (not (ontop ?obj ?o)) (not (under ?obj ?o)) (not (under ?o ?obj))
                        (not (nextto ?obj ?o)) (not (nextto ?o ?obj))
                        (not (onfloor ?obj ?o)) (not (touching ?obj ?o)) (not (touching ?o ?obj))))))

  (:action release_with
    :parameters (?hand - hand ?obj - movable ?agent - agent)
    :precondition (and (two_handed ?agent) (in_hand ?hand ?obj))
    :effect (and (not (holding ?obj)) (not (handsfull ?agent))
                 (not (in_hand ?hand ?obj)) (not (hand_full ?hand))))

  (:action place_inside_with
    :parameters (?hand - hand ?obj_in_hand - movable ?obj - thing ?agent - agent)
    :precondition (and (two_handed ?agent) (in_hand ?hand ?obj_in_hand)
                       (in_reach_of_agent ?obj)
                       (not (= ?obj_in_hand ?obj))
                       (not (ontop ?obj ?obj_in_hand)) (not (inside ?obj ?obj_in_hand))
                       (not (exists (?c - closed_container) (and (= ?c ?obj) (not (open ?c))))))
    :effect (and (inside ?obj_in_hand ?obj)
                 (not (holding ?obj_in_hand)) (not (handsfull ?agent))
                 (not (in_hand ?hand ?obj_in_hand)) (not (hand_full ?hand))))

  (:action place_ontop_with
    :parameters (?hand - hand ?obj_in_hand - movable ?obj - thing ?agent - agent)
    :precondition (and (two_handed ?agent) (in_hand ?hand ?obj_in_hand)
                       (in_reach_of_agent ?obj)
                       (not (= ?obj_in_hand ?obj))
                       (not (ontop ?obj ?obj_in_hand)) (not (inside ?obj ?obj_in_hand)))
    :effect (and (ontop ?obj_in_hand ?obj)
                 (not (holding ?obj_in_hand)) (not (handsfull ?agent))
                 (not (in_hand ?hand ?obj_in_hand)) (not (hand_full ?hand))))

  (:action place_onfloor_with
    :parameters (?hand - hand ?obj_in_hand - movable ?floor - floor_n_01 ?agent - agent)
    :precondition (and (two_handed ?agent) (in_hand ?hand ?obj_in_hand)
                       (in_reach_of_agent ?floor))
    :effect (and (onfloor ?obj_in_hand ?floor)
                 (not (holding ?obj_in_hand)) (not (handsfull ?agent))
                 (not (in_hand ?hand ?obj_in_hand)) (not (hand_full ?hand))))

  (:action place_under_with
    :parameters (?hand - hand ?obj_in_hand - movable ?obj - thing ?agent - agent)
    :precondition (and (two_handed ?agent) (in_hand ?hand ?obj_in_hand)
                       (in_reach_of_agent ?obj)
                       (not (= ?obj_in_hand ?obj))
                       (not (ontop ?obj ?obj_in_hand)) (not (inside ?obj ?obj_in_hand)))
    :effect (and (under ?obj_in_hand ?obj)
                 (forall (?o - thing)                            ; .. where that one is
                   (and (when (onfloor ?obj ?o) (onfloor ?obj_in_hand ?o))
                        (when (ontop ?obj ?o) (ontop ?obj_in_hand ?o))
                        (when (inside ?obj ?o) (inside ?obj_in_hand ?o))))
                 (not (holding ?obj_in_hand)) (not (handsfull ?agent))
                 (not (in_hand ?hand ?obj_in_hand)) (not (hand_full ?hand))))

  (:action place_nextto_with
    :parameters (?hand - hand ?obj_in_hand - movable ?obj - thing ?agent - agent)
    :precondition (and (two_handed ?agent) (in_hand ?hand ?obj_in_hand)
                       (in_reach_of_agent ?obj)
                       (not (= ?obj_in_hand ?obj))
                       (not (ontop ?obj ?obj_in_hand)) (not (inside ?obj ?obj_in_hand)))
    :effect (and (nextto ?obj_in_hand ?obj) (nextto ?obj ?obj_in_hand)
                 (touching ?obj_in_hand ?obj) (touching ?obj ?obj_in_hand)
                 (forall (?o - thing)                            ; .. where that one is
                   (and (when (onfloor ?obj ?o) (onfloor ?obj_in_hand ?o))
                        (when (ontop ?obj ?o) (ontop ?obj_in_hand ?o))
                        (when (inside ?obj ?o) (inside ?obj_in_hand ?o))))
                 (not (holding ?obj_in_hand)) (not (handsfull ?agent))
                 (not (in_hand ?hand ?obj_in_hand)) (not (hand_full ?hand))))

  (:action place_nextto_ontop_with
    :parameters (?hand - hand ?obj_in_hand - movable ?obj1 - thing ?obj2 - thing ?agent - agent)
    :precondition (and (two_handed ?agent) (in_hand ?hand ?obj_in_hand)
                       (in_reach_of_agent ?obj1)
                       (not (= ?obj_in_hand ?obj1)) (not (= ?obj_in_hand ?obj2)))
    :effect (and (nextto ?obj_in_hand ?obj1) (nextto ?obj1 ?obj_in_hand)
                 (ontop ?obj_in_hand ?obj2)
                 (when (exists (?f - floor_n_01) (= ?f ?obj2)) (onfloor ?obj_in_hand ?obj2))
                 (not (holding ?obj_in_hand)) (not (handsfull ?agent))
                 (not (in_hand ?hand ?obj_in_hand)) (not (hand_full ?hand))))

  (:action transfer_contents_inside_with
    :parameters (?hand - hand ?obj_in_hand - movable ?obj - thing ?agent - agent)
    :precondition (and (two_handed ?agent) (in_hand ?hand ?obj_in_hand)
                       (in_reach_of_agent ?obj)
                       (not (= ?obj_in_hand ?obj))
                       (not (exists (?c - closed_container) (and (= ?c ?obj) (not (open ?c))))))
    :effect (forall (?x - movable)
              (and (when (inside ?x ?obj_in_hand) (and (not (inside ?x ?obj_in_hand)) (inside ?x ?obj)))
                   (when (ontop ?x ?obj_in_hand) (and (not (ontop ?x ?obj_in_hand)) (inside ?x ?obj))))))

  (:action transfer_contents_ontop_with
    :parameters (?hand - hand ?obj_in_hand - movable ?obj - thing ?agent - agent)
    :precondition (and (two_handed ?agent) (in_hand ?hand ?obj_in_hand)
                       (in_reach_of_agent ?obj)
                       (not (= ?obj_in_hand ?obj)))
    :effect (forall (?x - movable)
              (and (when (inside ?x ?obj_in_hand) (and (not (inside ?x ?obj_in_hand)) (ontop ?x ?obj)))
                   (when (ontop ?x ?obj_in_hand) (and (not (ontop ?x ?obj_in_hand)) (ontop ?x ?obj))))))

  ; -- cutting ---------------------------------------------------------------------------------------------------------

  (:action slice
    :parameters (?obj - sliceable ?knife - slicer ?agent - agent)
    :precondition (and (holding ?knife)
                       (in_reach_of_agent ?obj)
                       (not (sliced ?obj)))
    :effect (and (sliced ?obj)
                 (forall (?p - piece ?o - thing)              ; the pieces are where the whole was
                   (when (piece_of ?p ?obj)
                         (and (when (inside ?obj ?o) (and (inside ?p ?o) (not (inside ?obj ?o))))
                              (when (ontop ?obj ?o) (and (ontop ?p ?o) (not (ontop ?obj ?o))))
                              (when (onfloor ?obj ?o) (and (onfloor ?p ?o) (not (onfloor ?obj ?o)))))))))

  (:action slice-carvingknife
    :parameters (?obj - sliceable ?knife - carving_knife_n_01 ?board - countertop_n_01 ?agent - agent)
    :precondition (and (holding ?knife)
                       (in_reach_of_agent ?obj)
                       (ontop ?obj ?board)
                       (not (sliced ?obj)))
    :effect (and (sliced ?obj)
                 (forall (?p - piece ?o - thing)              ; the pieces are where the whole was
                   (when (piece_of ?p ?obj)
                         (and (when (inside ?obj ?o) (and (inside ?p ?o) (not (inside ?obj ?o))))
                              (when (ontop ?obj ?o) (and (ontop ?p ?o) (not (ontop ?obj ?o))))
                              (when (onfloor ?obj ?o) (and (onfloor ?p ?o) (not (onfloor ?obj ?o)))))))))

  (:action slice_object
    :parameters (?obj - sliceable ?agent - agent)
    :precondition (and (exists (?k - slicer) (holding ?k))
                       (in_reach_of_agent ?obj)
                       (not (sliced ?obj)))
    :effect (and (sliced ?obj)
                 (forall (?p - piece ?o - thing)              ; the pieces are where the whole was
                   (when (piece_of ?p ?obj)
                         (and (when (inside ?obj ?o) (and (inside ?p ?o) (not (inside ?obj ?o))))
                              (when (ontop ?obj ?o) (and (ontop ?p ?o) (not (ontop ?obj ?o))))
                              (when (onfloor ?obj ?o) (and (onfloor ?p ?o) (not (onfloor ?obj ?o)))))))))

  ; -- cleaning --------------------------------------------------------------------------------------------------------

  (:action clean_stained_brush
    :parameters (?scrub_brush - scrub_brush_n_01 ?obj - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (stained ?obj)
                       (holding ?scrub_brush) (soaked ?scrub_brush))
    :effect (not (stained ?obj)))

  (:action clean_stained_cloth
    :parameters (?rag - piece_of_cloth_n_01 ?obj - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (stained ?obj)
                       (holding ?rag) (soaked ?rag))
    :effect (not (stained ?obj)))

  (:action clean_stained_handowel
    :parameters (?hand_towel - hand_towel_n_01 ?obj - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (stained ?obj)
                       (holding ?hand_towel) (soaked ?hand_towel))
    :effect (not (stained ?obj)))

  (:action clean_stained_towel
    :parameters (?hand_towel - towel_n_01 ?obj - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (stained ?obj)
                       (holding ?hand_towel) (soaked ?hand_towel))
    :effect (not (stained ?obj)))

  (:action clean_stained_dishtowel
    :parameters (?hand_towel - dishtowel_n_01 ?obj - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (stained ?obj)
                       (holding ?hand_towel) (soaked ?hand_towel))
    :effect (not (stained ?obj)))

  (:action clean_stained_rag
    :parameters (?rag - rag_n_01 ?obj - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (stained ?obj)
                       (holding ?rag) (soaked ?rag))
    :effect (not (stained ?obj)))

  (:action clean_stained_dishwasher
    :parameters (?dishwasher - dishwasher_n_01 ?obj - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?dishwasher)
                       (stained ?obj)
                       (or (holding ?obj) (inside ?obj ?dishwasher)))
    :effect (not (stained ?obj)))

  (:action clean_dusty_rag
    :parameters (?rag - rag_n_01 ?obj - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (dusty ?obj)
                       (holding ?rag))
    :effect (not (dusty ?obj)))

  (:action clean_dusty_towel
    :parameters (?towel - towel_n_01 ?obj - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (dusty ?obj)
                       (holding ?towel))
    :effect (not (dusty ?obj)))

  (:action clean_dusty_cloth
    :parameters (?rag - piece_of_cloth_n_01 ?obj - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (dusty ?obj)
                       (holding ?rag))
    :effect (not (dusty ?obj)))

  (:action clean_dusty_brush
    :parameters (?scrub_brush - scrub_brush_n_01 ?obj - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (dusty ?obj)
                       (holding ?scrub_brush))
    :effect (not (dusty ?obj)))

  (:action clean_dusty_vacuum
    :parameters (?vacuum - vacuum_n_04 ?obj - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (dusty ?obj)
                       (holding ?vacuum))
    :effect (not (dusty ?obj)))

  (:action clean
    :parameters (?obj - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (or (exists (?t - cleaning_tool) (holding ?t))
                           (exists (?c - cleanser) (holding ?c))
                           (exists (?w - sink_n_01) (and (inside ?obj ?w) (toggled_on ?w)))
                           (exists (?w - dishwasher_n_01) (and (inside ?obj ?w) (toggled_on ?w)))))
    :effect (and (when (or (exists (?t - cleaning_tool) (holding ?t))
                           (exists (?w - sink_n_01) (and (inside ?obj ?w) (toggled_on ?w)))
                           (exists (?w - dishwasher_n_01) (and (inside ?obj ?w) (toggled_on ?w))))
                       (not (dusty ?obj)))
                 (when (or (exists (?t - cleaning_tool) (and (holding ?t) (soaked ?t)))
                           (exists (?c - cleanser) (holding ?c))
                           (exists (?w - sink_n_01) (and (inside ?obj ?w) (toggled_on ?w))))
                       (not (stained ?obj)))))

  ; -- water -----------------------------------------------------------------------------------------------------------

  (:action soak
    :parameters (?obj1 - thing ?sink - water_source ?agent - agent)
    :precondition (and (in_reach_of_agent ?sink)
                       (toggled_on ?sink)
                       (or (holding ?obj1) (inside ?obj1 ?sink)))
    :effect (soaked ?obj1))

  (:action soak_teapot
    :parameters (?obj1 - thing ?agent - agent ?teapot - teapot_n_01)
    :precondition (and (in_reach_of_agent ?teapot)
                       (or (holding ?obj1) (inside ?obj1 ?teapot)))
    :effect (soaked ?obj1))

  (:action soak_object
    :parameters (?obj - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (not (handsfull ?agent))
                       (not (soaked ?obj))
                       (or (exists (?w - water_source) (and (inside ?obj ?w) (toggled_on ?w)))
                           (exists (?t - teapot_n_01) (inside ?obj ?t))))
    :effect (soaked ?obj))

  (:action dry
    :parameters (?obj - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (not (handsfull ?agent))
                       (soaked ?obj))
    :effect (not (soaked ?obj)))

  ; -- heat and cold ---------------------------------------------------------------------------------------------------

  (:action cook                                      ; a pan; or an appliance that is on
    :parameters (?obj - food ?pan - cookware)
    :precondition (and (or (ontop ?obj ?pan) (inside ?obj ?pan))
                       (not (exists (?t - toggleable) (and (= ?t ?pan) (not (toggled_on ?t)))))
                       (not (cooked ?obj)))
    :effect (cooked ?obj))

  (:action cook_object
    :parameters (?obj - food ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (not (handsfull ?agent))
                       (not (cooked ?obj))
                       (exists (?pan - cookware)
                         (and (or (ontop ?obj ?pan) (inside ?obj ?pan))
                              (not (exists (?t - toggleable) (and (= ?t ?pan) (not (toggled_on ?t))))))))
    :effect (cooked ?obj))

  (:action freeze
    :parameters (?obj - thing ?fridge - cold_source)
    :precondition (and (inside ?obj ?fridge)
                       (not (frozen ?obj)))
    :effect (frozen ?obj))

  (:action freeze_object
    :parameters (?obj - thing ?agent - agent)
    :precondition (and (in_reach_of_agent ?obj)
                       (not (handsfull ?agent))
                       (not (frozen ?obj))
                       (exists (?f - cold_source) (inside ?obj ?f)))
    :effect (frozen ?obj))

  (:action unfreeze
    :parameters (?obj - thing ?agent - agent)
    :precondition (in_reach_of_agent ?obj)
    :effect (not (frozen ?obj))))
