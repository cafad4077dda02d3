; The world of the constraints of "Plug in the Safety Chip" (arXiv 2309.09919).
;
; The predicates are the constraints' propositions, and each action changes the proposition of its name. As in the
; paper's experiments, a step needs only a path through the home. Actions without a proposition have no effect. Objects
; are named by their class, as in the constraints: two sofas are not distinguished.

(define (domain safety_chip)
  (:requirements :adl)

  (:types place - object room thing - place)

  (:constants
    ; the classes of VirtualHome, without underscores; other names in constraints are added to the problem
    addressbook aftershave alarmclock alcohol amplifier apple armsboth armsleft armsright bag balanceball banana
    bananas band-aids barsoap basketforclothes bathroomcabinet bathroomcounter bathtub bed beer bellpepper bench
    bills bird blanket blender blowdryer board boardgame book bookmark bookshelf bottlewater bowl box bread
    breadslice broom brush bucket button cabinet candle candybar cards carpet carrot cat cd cdplayer ceiling
    ceilingfan ceilinglamp cellphone centerpiece cereal chair check chefknife chessboard chicken child chinesefood
    chips chocolatesyrup cleaningbottle cleaningsolution clock closet closetdrawer clothesdress clothesgloves
    clotheshat clothesjacket clothespants clothespile clothesscarf clothesshirt clothesskirt clothessocks
    clothesunderwear clothnapkin coatrack coffee coffeecup coffeefilter coffeemaker coffeepot coffeetable coffemaker
    coin colander comb comforter computer condimentbottle condimentshaker conditioner console controller cookingpot
    couch cpucase cpuscreen cputable crackers crayon crayons creamybuns creditcard cucumber cup cupboard cupcake
    curtain curtains cutleryfork cutleryknife cutlets cuttingboard deckofcards deodorant desk detergent diary
    diningtable dirt dishbowl dishrack dishsoap dishwasher dishwashingliquid document dog donut door doorjamb dough
    drawing dresser drinkingglass dryingrack drypasta duster dustpan dvdplayer electricaloutlet electricshaver
    envelope eyeleft eyeright eyesboth face facecream facesoap facialcleanser faucet faxmachine feetboth feetleft
    feetright filingcabinet floor floorlamp fly folder foodapple foodbacon foodbanana foodbread foodbutter foodcake
    foodcarrot foodcereal foodcheese foodchicken fooddessert fooddonut foodegg foodfish foodfood foodfruit
    foodhamburger foodicecream foodjam foodkiwi foodlemon foodnoodles foodoatmeal foodonion foodorange
    foodpeanutbutter foodpizza foodpotato foodrice foodsalt foodsnack foodsteak foodsugar foodturkey foodvegetable
    fork form foundation freezer fridge fryingpan game garbagecan glass glasses globe glue groceries groundcoffee
    guitar hair hairbrush hairdryer hairproduct handsboth handsleft handsright hanger headset highlighter homework
    ice instrumentguitar instrumentpiano instrumentviolin iron ironingboard jacuzzi jelly journal juice kettle
    keyboard keys kitchencabinet kitchencabinets kitchencounter kitchencounterdrawers kitchentable knife knifeblock
    lamp laptop laserpointer laundrydetergent legsboth legsleft legsright lemon light lightbulb lighter lighting
    lightswitch lime longboard lotionbottle loveseat magazine mail man mat measuringcup mechanicalpencil microphone
    microwave milk milkshake mincedmeat mini-fridge mirror mop mopbucket mouse mousemat mousepad mouthwash mug
    musicstand nailpolish napkin needle newspaper nightstand notebook notepad notes novel oil orange orchid oven
    ovenmitts oventray painkillers painting pajamas pancake pantry pants paper papertowel papertray pasta pc peach
    pear pen pencil perfume phone photoframe pianobench picture pie pillow placemat plate plum pot potato poundcake
    powersocket printer printingpaper projector pudding purse radio rag razor receipt remotecontrol rug salad salmon
    saltcrackers sauce saucepan scissors scrabble shampoo shavingcream sheets shelf shelfsoapset shirt shoe-shinekit
    shoerack shoes shower shredder sink slippers soap soapset sofa speaker spectacles sponge spoon sportsball stall
    stamp standingmirror stereo stove stovefan sundae table tablecloth tablelamp tape tea teabag teddybear teeth
    telephone television textbook thread toaster toilet toiletpaper tomato toothbrush toothbrushholder toothpaste
    towel towelrack toy trashcan tray tv tvstand vacuumcleaner vase videogameconsole videogamecontroller wall
    wallclock walllamp wallphone wallpictureframe wallshelf walltv washingmachine washingsponge water waterglass
    watermelon whippedcream window wine wineglass woman woodenspoon
    - thing)

  (:predicates
    (agent_at ?p - place)                  ; in a room, or at an object
    (is_open ?x - thing)
    (is_switchedon ?x - thing)
    (is_grabbed ?x - thing)
    (is_touched ?x - thing)
    (is_in ?x ?y - thing)
    (is_on ?x ?y - thing)
    (door ?from ?to - room))               ; from one room directly into the next

  ; One step through one door: a walk across the home is several steps, because the constraints concern every room.
  (:action walk
    :parameters (?from ?to - room)
    :precondition (and (agent_at ?from) (door ?from ?to))
    :effect (and (forall (?p - place) (not (agent_at ?p))) (agent_at ?to)))

  ; To the first room, if the files do not give a start room.
  (:action arrive
    :parameters (?to - room)
    :precondition (forall (?r - room) (not (agent_at ?r)))
    :effect (and (forall (?p - place) (not (agent_at ?p))) (agent_at ?to)))

  ; To an object in the agent's room.
  (:action find
    :parameters (?x - thing)
    :effect (and (forall (?y - thing) (not (agent_at ?y))) (agent_at ?x)))

  (:action open :parameters (?x - thing) :effect (is_open ?x))
  (:action close :parameters (?x - thing) :effect (not (is_open ?x)))
  (:action switchon :parameters (?x - thing) :effect (is_switchedon ?x))
  (:action switchoff :parameters (?x - thing) :effect (not (is_switchedon ?x)))
  (:action touch :parameters (?x - thing) :effect (is_touched ?x))

  (:action grab
    :parameters (?x - thing)
    :effect (and (is_grabbed ?x) (forall (?y - thing) (and (not (is_in ?x ?y)) (not (is_on ?x ?y))))))

  (:action putin
    :parameters (?x ?y - thing)
    :effect (and (not (is_grabbed ?x)) (forall (?z - thing) (and (not (is_in ?x ?z)) (not (is_on ?x ?z))))
      (is_in ?x ?y)))

  (:action puton
    :parameters (?x ?y - thing)
    :effect (and (not (is_grabbed ?x)) (forall (?z - thing) (and (not (is_in ?x ?z)) (not (is_on ?x ?z))))
      (is_on ?x ?y)))

  (:action drop :parameters (?x - thing) :effect (not (is_grabbed ?x)))

  (:action lookat :parameters (?x - place))
  (:action turnto :parameters (?x - place))
  (:action pointat :parameters (?x - place))
  (:action watch :parameters (?x - place))
  (:action read :parameters (?x - place))
  (:action sit :parameters (?x - place))
  (:action lie :parameters (?x - place))
  (:action type :parameters (?x - place))
  (:action cut :parameters (?x - place))
  (:action push :parameters (?x - place))
  (:action pull :parameters (?x - place))
  (:action move :parameters (?x - place))
  (:action wash :parameters (?x - place))
  (:action rinse :parameters (?x - place))
  (:action scrub :parameters (?x - place))
  (:action wipe :parameters (?x - place))
  (:action squeeze :parameters (?x - place))
  (:action drink :parameters (?x - place))
  (:action eat :parameters (?x - place))
  (:action greet :parameters (?x - place))
  (:action plugin :parameters (?x - place))
  (:action plugout :parameters (?x - place))
  (:action lift :parameters (?x - place))
  (:action pour :parameters (?x ?y - place))
  (:action sleep :parameters ())
  (:action standup :parameters ())
  (:action wakeup :parameters ()))
