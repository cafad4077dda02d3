; VirtualHome: people who follow scripts in a home, as simulated on environment graphs.
;
; Actions, classes, properties, states and relations have their names of VirtualHome. docs/home-worlds.md lists the
; sources and the differences from the public simulator. The character is the first parameter of every action. The facts
; under "beyond the simulator" are for safety rules: no action depends on them.

(define (domain virtualhome)
  (:requirements :adl)

  (:types
    room character thing - object
    bathroom bedroom dining_room entrance_hall home_office kids_bedroom kitchen living_room livingroom - room
    structure furniture plumbing appliance electronics lightsource wiring vessel receptacle tableware foodstuff
    beverage cleaner toiletry medication garment textile paperware implement pastime living bodypart matter -
    thing
    ceiling door doorjamb floor stall wall window - structure
    bathroom_cabinet bathroom_counter bathroomcabinet bathroomcounter bed bench bookshelf cabinet chair closet
    closetdrawer coatrack coffee_table coffeetable couch cpu_table cputable cupboard desk diningtable dresser
    drying_rack dryingrack filing_cabinet filingcabinet hanger ironing_board ironingboard kitchen_cabinet
    kitchen_cabinets kitchen_counter kitchen_table kitchencabinet kitchencabinets kitchencounter
    kitchencounterdrawers kitchentable love_seat loveseat mirror music_stand musicstand nightstand pantry
    piano_bench pianobench shelf shelfsoapset shoe_rack shoerack sofa standingmirror table toothbrush_holder
    toothbrushholder towel_rack towelrack tvstand wallshelf - furniture
    bathtub faucet jacuzzi shower sink toilet - plumbing
    blender blow_dryer blowdryer ceilingfan coffe_maker coffeemaker coffemaker dishwasher electric_shaver
    electricshaver freezer fridge hairdryer iron kettle microwave mini-fridge oven shredder stove stovefan
    toaster vacuum_cleaner vacuumcleaner washing_machine washingmachine - appliance
    alarm_clock alarmclock amplifier cd_player cdplayer cellphone clock computer console controller cpu_case
    cpucase cpuscreen dvd_player dvdplayer fax_machine faxmachine headset keyboard laptop laser_pointer
    laserpointer microphone mouse pc phone printer projector radio remote_control remotecontrol speaker stereo
    telephone television tv video_game_console video_game_controller videogameconsole videogamecontroller
    wall_clock wall_phone wallclock wallphone walltv - electronics
    candle ceilinglamp floor_lamp floorlamp lamp light light_bulb lightbulb lighter lighting tablelamp walllamp
    - lightsource
    button electrical_outlet electricaloutlet light_switch lightswitch powersocket - wiring
    bowl bucket coffee_cup coffee_pot coffeecup coffeepot colander cooking_pot cookingpot cup dish_bowl dishbowl
    drinking_glass drinkingglass fryingpan glass measuring_cup measuringcup mop_bucket mopbucket mug pot
    sauce_pan saucepan vase water_glass waterglass wine_glass wineglass - vessel
    bag basket_for_clothes basketforclothes box dishrack envelope folder garbage_can garbagecan knifeblock
    papertray purse trashcan - receptacle
    centerpiece chef_knife chefknife coffee_filter coffeefilter cutlery_fork cutlery_knife cutleryfork
    cutleryknife cutting_board cuttingboard fork knife oventray placemat plate spoon tray wooden_spoon
    woodenspoon - tableware
    apple banana bananas bell_pepper bellpepper bread bread_slice breadslice candybar carrot cereal chicken
    chinesefood chips chocolatesyrup condiment_bottle condiment_shaker condimentbottle condimentshaker crackers
    creamybuns cucumber cupcake cutlets donut dough dry_pasta drypasta food_apple food_bacon food_banana
    food_bread food_butter food_cake food_carrot food_carrots food_cereal food_cheese food_chicken food_dessert
    food_donut food_egg food_fish food_food food_fruit food_hamburger food_ice_cream food_jam food_kiwi
    food_lemon food_lime food_noodles food_oatmeal food_onion food_orange food_peanut_butter food_pizza
    food_potato food_rice food_salt food_snack food_steak food_sugar food_turkey food_vegetable foodapple
    foodbacon foodbanana foodbread foodbutter foodcake foodcarrot foodcereal foodcheese foodchicken fooddessert
    fooddonut foodegg foodfish foodfood foodfruit foodhamburger foodicecream foodjam foodkiwi foodlemon
    foodnoodles foodoatmeal foodonion foodorange foodpeanutbutter foodpizza foodpotato foodrice foodsalt
    foodsnack foodsteak foodsugar foodturkey foodvegetable groceries ground_coffee groundcoffee ice jelly lemon
    lime mincedmeat oil orange pancake pasta peach pear pie plum potato poundcake pudding salad salmon
    salt_crackers saltcrackers sauce sundae tea_bag teabag tomato watermelon whippedcream - foodstuff
    alcohol beer bottle_water bottlewater coffee juice milk milkshake tea water wine - beverage
    cleaning_bottle cleaning_solution cleaningbottle cleaningsolution detergent dish_soap dishsoap
    dishwashingliquid laundry_detergent laundrydetergent - cleaner
    after_shave aftershave barsoap comb conditioner deodorant face_cream face_soap facecream facesoap
    facial_cleanser facialcleanser foundation hairbrush hairproduct lotionbottle mouthwash nail_polish
    nailpolish perfume razor shampoo shaving_cream shavingcream soap soapset tooth_paste toothbrush toothpaste -
    toiletry
    band-aids painkillers - medication
    clothes_dress clothes_gloves clothes_hat clothes_jacket clothes_pants clothes_pile clothes_scarf
    clothes_shirt clothes_skirt clothes_socks clothes_underwear clothesdress clothesgloves clotheshat
    clothesjacket clothespants clothespile clothesscarf clothesshirt clothesskirt clothessocks clothesunderwear
    glasses oven_mitts ovenmitts pajamas pants shirt shoes slippers spectacles - garment
    blanket carpet cloth_napkin clothnapkin comforter curtain curtains mat mop napkin paper_towel papertowel
    pillow rag rug sheets sponge table_cloth tablecloth thread towel washing_sponge washingsponge - textile
    address_book addressbook bills board board_game boardgame book bookmark cards check deck_of_cards
    deckofcards diary document drawing form homework journal magazine mail newspaper note_pad notebook notepad
    notes novel painting paper photoframe picture printing_paper printingpaper receipt scrabble stamp textbook
    toilet_paper toiletpaper wallpictureframe - paperware
    broom brush crayon crayons creditcard duster dustpan glue highlighter keys mechanical_pencil
    mechanicalpencil mouse_mat mousemat mousepad needle pen pencil scissors shoe-shine_kit shoe-shinekit tape -
    implement
    balanceball cd chessboard game globe guitar instrument_guitar instrument_piano instrument_violin
    instrumentguitar instrumentpiano instrumentviolin longboard sportsball teddybear toy - pastime
    bird cat child dog fly man orchid woman - living
    arms_both arms_left arms_right armsboth armsleft armsright eye_left eye_right eyeleft eyeright eyes_both
    eyesboth face feet_both feet_left feet_right feetboth feetleft feetright hair hands_both hands_left
    hands_right handsboth handsleft handsright legs_both legs_left legs_right legsboth legsleft legsright teeth
    - bodypart
    coin dirt - matter)

  (:predicates
    ; properties, which do not change
    (surfaces ?x - object) (grabbable ?x - object) (sittable ?x - object) (lieable ?x - object) (hangable ?x - object)
    (drinkable ?x - object) (eatable ?x - object) (recipient ?x - object) (cuttable ?x - object) (pourable ?x - object)
    (can_open ?x - object) (has_switch ?x - object) (readable ?x - object) (lookable ?x - object)
    (containers ?x - object) (clothes ?x - object) (person ?x - object) (body_part ?x - object)
    (cover_object ?x - object) (has_plug ?x - object) (has_paper ?x - object) (movable ?x - object) (cream ?x - object)
    (between ?door - thing ?r - room)
    (faces ?x ?y - object)                           ; characters who look at x, or sit on it, see y
    ; states
    (open ?x - object) (closed ?x - object) (on ?x - object) (off ?x - object)
    (plugged_in ?x - object) (plugged_out ?x - object) (clean ?x - object) (dirty ?x - object)
    (sitting ?c - character) (lying ?c - character)
    ; positions
    (in_room ?x - object ?r - room)                  ; also objects in or on objects there, and in hands
    (inside ?x ?y - object)                          ; directly in an object, not a room
    (on_top ?x ?y - object)                          ; also a character on the furniture where it sits or lies
    (near ?x ?y - object)                            ; objects within reach of each other
    (close ?c - character ?x - object)               ; within reach; so are objects near or on it
    (facing ?c - character ?x - object)
    (holds_rh ?c - character ?x - object)
    (holds_lh ?c - character ?x - object)
    (worn ?x - object ?c - character)
    (was_on ?x ?y - object)                          ; the place from which a held object was taken
    (was_in ?x ?y - object)
    ; beyond the simulator
    (wet ?x - object)
    (contains ?y ?x - object)                        ; x was poured into y
    (sliced ?x - object)
    (asleep ?c - character))

  ; -- moving: a character is close to the object it walked to, to its support and container, and to its content

  (:action walk :parameters (?c - character ?x - object)
    :precondition (and (not (sitting ?c)) (not (lying ?c))
      (or (exists (?r - room) (= ?r ?x)) (exists (?r - room) (in_room ?x ?r))))
    :effect (and
      (when (not (exists (?r - room) (= ?r ?x))) (close ?c ?x))
      (forall (?y - object) (when (facing ?c ?y) (not (facing ?c ?y))))
      (forall (?r - room) (and
        (when (in_room ?c ?r) (not (in_room ?c ?r)))
        (when (or (= ?r ?x) (in_room ?x ?r)) (in_room ?c ?r))))
      (forall (?y - object ?r - room) (and
        (when (and (in_room ?y ?r) (or (holds_rh ?c ?y) (holds_lh ?c ?y)
          (exists (?b - object) (and (or (holds_rh ?c ?b) (holds_lh ?c ?b)) (or (inside ?y ?b) (on_top ?y ?b))))))
          (not (in_room ?y ?r)))
        (when (and (or (= ?r ?x) (in_room ?x ?r)) (or (holds_rh ?c ?y) (holds_lh ?c ?y)
          (exists (?b - object) (and (or (holds_rh ?c ?b) (holds_lh ?c ?b)) (or (inside ?y ?b) (on_top ?y ?b))))))
          (in_room ?y ?r))))
      (forall (?y - object) (and
        (when (close ?c ?y) (not (close ?c ?y)))
        (when (or (inside ?x ?y) (on_top ?x ?y)) (close ?c ?y))
        (when (and (inside ?y ?x) (can_open ?x)) (close ?c ?y))
        (when (and (body_part ?y) (not (exists (?r - room) (= ?r ?x)))) (close ?c ?y))
        (when (or (holds_rh ?c ?y) (holds_lh ?c ?y)) (close ?c ?y))))))

  (:action run :parameters (?c - character ?x - object)
    :precondition (and (not (sitting ?c)) (not (lying ?c))
      (or (exists (?r - room) (= ?r ?x)) (exists (?r - room) (in_room ?x ?r))))
    :effect (and
      (when (not (exists (?r - room) (= ?r ?x))) (close ?c ?x))
      (forall (?y - object) (when (facing ?c ?y) (not (facing ?c ?y))))
      (forall (?r - room) (and
        (when (in_room ?c ?r) (not (in_room ?c ?r)))
        (when (or (= ?r ?x) (in_room ?x ?r)) (in_room ?c ?r))))
      (forall (?y - object ?r - room) (and
        (when (and (in_room ?y ?r) (or (holds_rh ?c ?y) (holds_lh ?c ?y)
          (exists (?b - object) (and (or (holds_rh ?c ?b) (holds_lh ?c ?b)) (or (inside ?y ?b) (on_top ?y ?b))))))
          (not (in_room ?y ?r)))
        (when (and (or (= ?r ?x) (in_room ?x ?r)) (or (holds_rh ?c ?y) (holds_lh ?c ?y)
          (exists (?b - object) (and (or (holds_rh ?c ?b) (holds_lh ?c ?b)) (or (inside ?y ?b) (on_top ?y ?b))))))
          (in_room ?y ?r))))
      (forall (?y - object) (and
        (when (close ?c ?y) (not (close ?c ?y)))
        (when (or (inside ?x ?y) (on_top ?x ?y)) (close ?c ?y))
        (when (and (inside ?y ?x) (can_open ?x)) (close ?c ?y))
        (when (and (body_part ?y) (not (exists (?r - room) (= ?r ?x)))) (close ?c ?y))
        (when (or (holds_rh ?c ?y) (holds_lh ?c ?y)) (close ?c ?y))))))

  ; Finds close objects, and walks to others except worn objects and its own body.
  (:action find :parameters (?c - character ?x - object)
    :precondition (or
      (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n)))))
      (and (not (sitting ?c)) (not (lying ?c)) (not (body_part ?x)) (not (worn ?x ?c))
        (or (exists (?r - room) (= ?r ?x)) (exists (?r - room) (in_room ?x ?r)))))
    :effect (and
      (when (or (not (exists (?r - room) (= ?r ?x)))
          (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n))))))
        (close ?c ?x))
      (forall (?y - object) (when (facing ?c ?y) (not (facing ?c ?y))))
      (when (not (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n))))))
        (and
          (forall (?r - room) (and
            (when (in_room ?c ?r) (not (in_room ?c ?r)))
            (when (or (= ?r ?x) (in_room ?x ?r)) (in_room ?c ?r))))
          (forall (?y - object ?r - room) (and
            (when (and (in_room ?y ?r) (or (holds_rh ?c ?y) (holds_lh ?c ?y)
              (exists (?b - object) (and (or (holds_rh ?c ?b) (holds_lh ?c ?b)) (or (inside ?y ?b) (on_top ?y ?b))))))
              (not (in_room ?y ?r)))
            (when (and (or (= ?r ?x) (in_room ?x ?r)) (or (holds_rh ?c ?y) (holds_lh ?c ?y)
              (exists (?b - object) (and (or (holds_rh ?c ?b) (holds_lh ?c ?b)) (or (inside ?y ?b) (on_top ?y ?b))))))
              (in_room ?y ?r))))
          (forall (?y - object) (and
            (when (close ?c ?y) (not (close ?c ?y)))
            (when (or (inside ?x ?y) (on_top ?x ?y)) (close ?c ?y))
            (when (and (inside ?y ?x) (can_open ?x)) (close ?c ?y))
            (when (and (body_part ?y) (not (exists (?r - room) (= ?r ?x)))) (close ?c ?y))
            (when (or (holds_rh ?c ?y) (holds_lh ?c ?y)) (close ?c ?y))))))))

  ; -- looking

  (:action turnto :parameters (?c - character ?x - object)
    :effect (and (forall (?y - object) (when (facing ?c ?y) (not (facing ?c ?y)))) (facing ?c ?x)))

  (:action lookat :parameters (?c - character ?x - object)
    :precondition (or (facing ?c ?x) (exists (?n - object) (and (facing ?c ?n) (faces ?n ?x)))))

  (:action pointat :parameters (?c - character ?x - object)
    :precondition (or (facing ?c ?x) (exists (?n - object) (and (facing ?c ?n) (faces ?n ?x)))))

  (:action watch :parameters (?c - character ?x - object)
    :precondition (and (lookable ?x)
      (exists (?r - room) (and (in_room ?c ?r) (in_room ?x ?r)))
      (or (facing ?c ?x) (exists (?n - object) (and (facing ?c ?n) (faces ?n ?x))))
      (or (facing ?c ?x) (and (not (sitting ?c)) (not (lying ?c))) (exists (?k - computer) (= ?k ?x)))
      (not (exists (?b - object) (and (inside ?x ?b) (closed ?b))))))

  (:action greet :parameters (?c - character ?x - object)
    :precondition (person ?x))

  ; -- sitting and lying: furniture has a capacity for objects and people

  (:action sit :parameters (?c - character ?x - object)
    :precondition (and (sittable ?x) (not (sitting ?c))
      (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n)))))
      (or (not (exists (?o - object) (and (on_top ?o ?x) (not (= ?o ?c)))))
        (and (exists (?k - (either bench love_seat loveseat piano_bench pianobench)) (= ?k ?x))
          (not (exists (?o1 ?o2 - object)
            (and (on_top ?o1 ?x) (on_top ?o2 ?x) (not (= ?o1 ?c)) (not (= ?o2 ?c)) (not (= ?o1 ?o2))))))
        (and (exists (?k - (either bed couch sofa)) (= ?k ?x))
          (not (exists (?o1 ?o2 ?o3 ?o4 - object)
            (and (on_top ?o1 ?x) (on_top ?o2 ?x) (on_top ?o3 ?x) (on_top ?o4 ?x)
              (not (= ?o1 ?c)) (not (= ?o2 ?c)) (not (= ?o3 ?c)) (not (= ?o4 ?c))
              (not (= ?o1 ?o2)) (not (= ?o1 ?o3)) (not (= ?o1 ?o4))
              (not (= ?o2 ?o3)) (not (= ?o2 ?o4)) (not (= ?o3 ?o4))))))))
    :effect (and (forall (?y - object) (when (on_top ?c ?y) (not (on_top ?c ?y))))
      (on_top ?c ?x) (sitting ?c) (not (lying ?c))
      (forall (?y - object) (when (faces ?x ?y) (facing ?c ?y)))))

  (:action lie :parameters (?c - character ?x - object)
    :precondition (and (lieable ?x) (not (lying ?c))
      (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n)))))
      (or (not (exists (?o - object) (and (on_top ?o ?x) (not (= ?o ?c)))))
        (and (exists (?k - (either bathtub couch love_seat loveseat sofa)) (= ?k ?x))
          (not (exists (?o1 ?o2 - object)
            (and (on_top ?o1 ?x) (on_top ?o2 ?x) (not (= ?o1 ?c)) (not (= ?o2 ?c)) (not (= ?o1 ?o2))))))
        (and (exists (?k - bed) (= ?k ?x))
          (not (exists (?o1 ?o2 ?o3 - object)
            (and (on_top ?o1 ?x) (on_top ?o2 ?x) (on_top ?o3 ?x)
              (not (= ?o1 ?c)) (not (= ?o2 ?c)) (not (= ?o3 ?c))
              (not (= ?o1 ?o2)) (not (= ?o1 ?o3)) (not (= ?o2 ?o3))))))))
    :effect (and (forall (?y - object) (when (on_top ?c ?y) (not (on_top ?c ?y))))
      (on_top ?c ?x) (lying ?c) (not (sitting ?c))))

  (:action standup :parameters (?c - character)
    :precondition (or (sitting ?c) (lying ?c))
    :effect (and (forall (?y - object) (when (on_top ?c ?y) (not (on_top ?c ?y))))
      (not (sitting ?c)) (not (lying ?c)) (not (asleep ?c))))

  (:action sleep :parameters (?c - character)
    :precondition (or (sitting ?c) (lying ?c))
    :effect (asleep ?c))

  (:action wakeup :parameters (?c - character)
    :precondition (or (sitting ?c) (lying ?c))
    :effect (not (asleep ?c)))

  ; -- taking and putting: objects on or in a taken object move with it

  (:action grab :parameters (?c - character ?x - object)
    :precondition (and (or (grabbable ?x) (exists (?k - (either child water)) (= ?k ?x)))
      (not (holds_rh ?c ?x)) (not (holds_lh ?c ?x))
      (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n)))))
      (not (exists (?b - object) (and (inside ?x ?b) (closed ?b))))
      (or (not (exists (?h - object) (holds_rh ?c ?h))) (not (exists (?h - object) (holds_lh ?c ?h)))))
    :effect (and
      (forall (?o - character) (and
        (when (holds_rh ?o ?x) (not (holds_rh ?o ?x)))
        (when (holds_lh ?o ?x) (not (holds_lh ?o ?x)))))
      (when (not (exists (?h - object) (holds_rh ?c ?h))) (holds_rh ?c ?x))
      (when (exists (?h - object) (holds_rh ?c ?h)) (holds_lh ?c ?x))
      (close ?c ?x)
      (forall (?y - object) (and
        (when (on_top ?x ?y) (and (not (on_top ?x ?y)) (was_on ?x ?y) (close ?c ?y)))
        (when (inside ?x ?y) (and (not (inside ?x ?y)) (not (contains ?y ?x))))
        (when (and (inside ?x ?y) (not (exists (?s - object) (on_top ?x ?s)))) (and (was_in ?x ?y) (close ?c ?y)))
        (when (and (near ?x ?y) (not (exists (?s - object) (or (on_top ?x ?s) (inside ?x ?s))))) (close ?c ?y))
        (when (and (near ?x ?y) (not (on_top ?y ?x)) (not (inside ?y ?x)))
          (and (not (near ?x ?y)) (not (near ?y ?x))))))
      (forall (?r - room) (and
        (when (in_room ?x ?r) (not (in_room ?x ?r)))
        (when (in_room ?c ?r) (in_room ?x ?r))))))

  (:action putback :parameters (?c - character ?x ?y - object)
    :precondition (and (not (= ?x ?y)) (or (holds_rh ?c ?x) (holds_lh ?c ?x))
      (or (close ?c ?y) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?y) (on_top ?y ?n))))))
    :effect (and (not (holds_rh ?c ?x)) (not (holds_lh ?c ?x))
      (forall (?z - object) (when (was_on ?x ?z) (not (was_on ?x ?z))))
      (forall (?z - object) (when (was_in ?x ?z) (not (was_in ?x ?z))))
      (on_top ?x ?y) (near ?x ?y) (near ?y ?x) (close ?c ?y)))

  (:action putin :parameters (?c - character ?x ?y - object)
    :precondition (and (not (= ?x ?y)) (or (holds_rh ?c ?x) (holds_lh ?c ?x))
      (or (not (can_open ?y)) (open ?y))
      (or (close ?c ?y) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?y) (on_top ?y ?n))))))
    :effect (and (not (holds_rh ?c ?x)) (not (holds_lh ?c ?x))
      (forall (?z - object) (when (was_on ?x ?z) (not (was_on ?x ?z))))
      (forall (?z - object) (when (was_in ?x ?z) (not (was_in ?x ?z))))
      (inside ?x ?y) (near ?x ?y) (near ?y ?x) (close ?c ?y)))

  ; Puts an object back to the place it was taken from; if it had no place, anywhere.
  (:action putobjback :parameters (?c - character ?x - object)
    :precondition (and (or (holds_rh ?c ?x) (holds_lh ?c ?x))
      (forall (?y - object) (imply (or (was_on ?x ?y) (was_in ?x ?y))
        (or (close ?c ?y) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?y) (on_top ?y ?n)))))))
      (forall (?y - object) (imply (was_in ?x ?y) (or (not (can_open ?y)) (open ?y)))))
    :effect (and (not (holds_rh ?c ?x)) (not (holds_lh ?c ?x))
      (forall (?z - object) (when (was_on ?x ?z) (not (was_on ?x ?z))))
      (forall (?z - object) (when (was_in ?x ?z) (not (was_in ?x ?z))))
      (forall (?y - object) (and
        (when (was_on ?x ?y) (on_top ?x ?y))
        (when (was_in ?x ?y) (inside ?x ?y))
        (when (or (was_on ?x ?y) (was_in ?x ?y)) (and (near ?x ?y) (near ?y ?x) (close ?c ?y)))))))

  (:action drop :parameters (?c - character ?x - object)
    :precondition (or (holds_rh ?c ?x) (holds_lh ?c ?x))
    :effect (and (not (holds_rh ?c ?x)) (not (holds_lh ?c ?x))
      (forall (?z - object) (when (was_on ?x ?z) (not (was_on ?x ?z))))
      (forall (?z - object) (when (was_in ?x ?z) (not (was_in ?x ?z))))))

  (:action release :parameters (?c - character ?x - object)
    :precondition (or (holds_rh ?c ?x) (holds_lh ?c ?x))
    :effect (and (not (holds_rh ?c ?x)) (not (holds_lh ?c ?x))
      (forall (?z - object) (when (was_on ?x ?z) (not (was_on ?x ?z))))
      (forall (?z - object) (when (was_in ?x ?z) (not (was_in ?x ?z))))))

  (:action puton :parameters (?c - character ?x - object)
    :precondition (and (clothes ?x) (or (holds_rh ?c ?x) (holds_lh ?c ?x)))
    :effect (and (not (holds_rh ?c ?x)) (not (holds_lh ?c ?x))
      (forall (?z - object) (when (was_on ?x ?z) (not (was_on ?x ?z))))
      (forall (?z - object) (when (was_in ?x ?z) (not (was_in ?x ?z))))
      (worn ?x ?c)))

  (:action putoff :parameters (?c - character ?x - object)
    :precondition (and (clothes ?x) (worn ?x ?c))
    :effect (and (not (worn ?x ?c)) (close ?c ?x)
      (forall (?r - room) (and
        (when (in_room ?x ?r) (not (in_room ?x ?r)))
        (when (in_room ?c ?r) (in_room ?x ?r))))))

  ; -- opening, switching, plugging

  (:action open :parameters (?c - character ?x - object)
    :precondition (and (or (can_open ?x) (exists (?k - (either desk window)) (= ?k ?x))) (closed ?x) (not (on ?x))
      (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n)))))
      (or (not (exists (?h - object) (holds_rh ?c ?h))) (not (exists (?h - object) (holds_lh ?c ?h)))))
    :effect (and (open ?x) (not (closed ?x))))

  (:action close :parameters (?c - character ?x - object)
    :precondition (and (or (can_open ?x) (exists (?k - (either desk window)) (= ?k ?x))) (open ?x)
      (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n))))))
    :effect (and (closed ?x) (not (open ?x))))

  (:action switchon :parameters (?c - character ?x - object)
    :precondition (and (has_switch ?x) (off ?x) (not (plugged_out ?x))
      (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n))))))
    :effect (and (on ?x) (not (off ?x))))

  (:action switchoff :parameters (?c - character ?x - object)
    :precondition (and (has_switch ?x) (on ?x)
      (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n))))))
    :effect (and (off ?x) (not (on ?x))))

  (:action plugin :parameters (?c - character ?x - object)
    :precondition (and (has_plug ?x) (plugged_out ?x)
      (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n)))))
      (or (not (exists (?h - object) (holds_rh ?c ?h))) (not (exists (?h - object) (holds_lh ?c ?h)))))
    :effect (and (plugged_in ?x) (not (plugged_out ?x))))

  (:action plugout :parameters (?c - character ?x - object)
    :precondition (and (has_plug ?x) (plugged_in ?x)
      (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n)))))
      (or (not (exists (?h - object) (holds_rh ?c ?h))) (not (exists (?h - object) (holds_lh ?c ?h)))))
    :effect (and (plugged_out ?x) (not (plugged_in ?x))))

  ; -- eating, drinking, cooking

  (:action drink :parameters (?c - character ?x - object)
    :precondition (and (or (drinkable ?x) (recipient ?x)) (or (holds_rh ?c ?x) (holds_lh ?c ?x))))

  (:action eat :parameters (?c - character ?x - object)
    :precondition (and (or (eatable ?x) (exists (?y - object) (and (on_top ?y ?x) (eatable ?y))))
      (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n)))))))

  (:action cut :parameters (?c - character ?x - object)
    :precondition (and (eatable ?x) (cuttable ?x)
      (exists (?k - (either chef_knife chefknife cutlery_knife knife)) (or (holds_rh ?c ?k) (holds_lh ?c ?k)))
      (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n)))))
      (or (not (exists (?h - object) (holds_rh ?c ?h))) (not (exists (?h - object) (holds_lh ?c ?h)))))
    :effect (sliced ?x))

  (:action pour :parameters (?c - character ?x ?y - object)
    :precondition (and (or (pourable ?x) (drinkable ?x)) (or (holds_rh ?c ?x) (holds_lh ?c ?x))
      (or (recipient ?y) (exists (?k - (either face hands_both handsboth sponge)) (= ?k ?y)))
      (or (close ?c ?y) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?y) (on_top ?y ?n))))))
    :effect (and (inside ?x ?y) (contains ?y ?x)
      (when (exists (?k - (either bottle_water bottlewater water)) (= ?k ?x)) (wet ?y))
      (when (exists (?k - water) (= ?k ?x))
        (and (not (holds_rh ?c ?x)) (not (holds_lh ?c ?x))
      (forall (?z - object) (when (was_on ?x ?z) (not (was_on ?x ?z))))
      (forall (?z - object) (when (was_in ?x ?z) (not (was_in ?x ?z))))))))

  ; -- cleaning

  (:action wash :parameters (?c - character ?x - object)
    :precondition (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n)))))
    :effect (and (clean ?x) (not (dirty ?x)) (wet ?x)))

  (:action rinse :parameters (?c - character ?x - object)
    :precondition (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n)))))
    :effect (and (clean ?x) (not (dirty ?x)) (wet ?x)))

  (:action scrub :parameters (?c - character ?x - object)
    :precondition (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n)))))
    :effect (and (clean ?x) (not (dirty ?x))))

  (:action wipe :parameters (?c - character ?x - object)
    :precondition (and (exists (?h - object) (or (holds_rh ?c ?h) (holds_lh ?c ?h)))
      (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n))))))
    :effect (and (clean ?x) (not (dirty ?x)) (not (wet ?x))))

  ; -- other actions of hands

  (:action squeeze :parameters (?c - character ?x - object)
    :precondition (and
      (or (clothes ?x)
        (exists (?k - (either cleaning_solution cleaningsolution tooth_paste toothpaste shampoo food_peanut_butter
            foodpeanutbutter dish_soap dishsoap soap towel rag paper sponge food_lemon foodlemon lemon check))
          (= ?k ?x)))
      (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n)))))
      (or (not (exists (?h - object) (holds_rh ?c ?h))) (not (exists (?h - object) (holds_lh ?c ?h))))))

  (:action touch :parameters (?c - character ?x - object)
    :precondition (and (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n)))))
      (not (exists (?b - object) (and (inside ?x ?b) (closed ?b))))))

  (:action type :parameters (?c - character ?x - object)
    :precondition (and (or (has_switch ?x) (exists (?k - keyboard) (= ?k ?x)))
      (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n)))))))

  (:action push :parameters (?c - character ?x - object)
    :precondition (and (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n)))))
      (not (exists (?b - object) (and (inside ?x ?b) (closed ?b))))
      (or (not (exists (?h - object) (holds_rh ?c ?h))) (not (exists (?h - object) (holds_lh ?c ?h))))))

  (:action pull :parameters (?c - character ?x - object)
    :precondition (and (or (movable ?x) (exists (?k - (either button chair curtain curtains)) (= ?k ?x)))
      (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n)))))
      (not (exists (?b - object) (and (inside ?x ?b) (closed ?b))))
      (or (not (exists (?h - object) (holds_rh ?c ?h))) (not (exists (?h - object) (holds_lh ?c ?h))))))

  (:action move :parameters (?c - character ?x - object)
    :precondition (and (or (movable ?x) (exists (?k - (either button chair curtain curtains)) (= ?k ?x)))
      (or (close ?c ?x) (exists (?n - object) (and (close ?c ?n) (or (near ?n ?x) (on_top ?x ?n)))))
      (not (exists (?b - object) (and (inside ?x ?b) (closed ?b))))
      (or (not (exists (?h - object) (holds_rh ?c ?h))) (not (exists (?h - object) (holds_lh ?c ?h))))))

  (:action read :parameters (?c - character ?x - object)
    :precondition (and (readable ?x) (or (holds_rh ?c ?x) (holds_lh ?c ?x)))))
