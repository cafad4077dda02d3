; The small world in which the constraints of "Plug in the Safety Chip" (arXiv 2309.09919) are judged.
;
; Its predicates are those of the constraints, and each action changes what its name says; nothing but a way through the
; home is needed for a step, as in the experiments of the paper. Actions that no constraint can see have no effect.
; Things are named by their class, as in the constraints: which of two sofas it is does not matter to them.

(define (domain safety_chip)
  (:requirements :adl)

  (:types place - object room thing - place)

  (:constants
    ; the classes of VirtualHome's simulator; what a constraint names beyond these is added to the problem
    alcohol amplifier apple balanceball bananas barsoap bathroomcabinet bathroomcounter bathtub bed beer bellpepper
    bench board boardgame book bookshelf bottlewater box bread breadslice broom bucket cabinet candle candybar cards
    carrot cat ceilingfan ceilinglamp cellphone cereal chair chefknife chicken chinesefood chips chocolatesyrup
    clock closet closetdrawer clothespants clothespile clothesshirt coffeemaker coffeepot coffeetable computer
    condimentbottle condimentshaker cookingpot cpuscreen crackers crayons creamybuns cucumber cupcake curtains
    cutleryfork cutleryknife cutlets cuttingboard deodorant desk diningtable dishbowl dishwasher dishwashingliquid
    donut door doorjamb dustpan facecream faucet folder fridge fryingpan game garbagecan glasses globe guitar
    hairproduct hanger jacuzzi journal juice kettle keyboard kitchencabinet kitchencounter kitchentable knifeblock
    lemon lightswitch lime longboard lotionbottle magazine microwave milk milkshake mincedmeat mouse mousemat mug
    napkin nightstand notes orange orchid painkillers pancake paper papertowel papertray pc peach pear pen perfume
    photoframe pie pillow plate plum potato poundcake powersocket printer projector pudding radio remotecontrol rug
    salad salmon shelf shelfsoapset sink slippers soapset sofa speaker spoon sportsball stall standingmirror stove
    stovefan sundae tablelamp teddybear toaster toilet toiletpaper tomato toothbrush toothpaste towel towelrack toy
    tv tvstand vase walllamp wallphone wallpictureframe wallshelf walltv washingmachine washingsponge waterglass
    watermelon whippedcream wine wineglass
    - thing)

  (:predicates
    (agent_at ?p - place)                  ; in a room; or so near a thing as to count as being at it
    (is_open ?x - thing)
    (is_switchedon ?x - thing)
    (is_grabbed ?x - thing)
    (is_touched ?x - thing)
    (is_in ?x ?y - thing)
    (is_on ?x ?y - thing)
    (door ?from ?to - room))               ; leads from one room straight into the next

  ; One step through one door: a walk across the home is several, because the constraints see every room on the way.
  (:action walk
    :parameters (?from ?to - room)
    :precondition (and (agent_at ?from) (door ?from ?to))
    :effect (and (forall (?p - place) (not (agent_at ?p))) (agent_at ?to)))

  ; The first room, where the files do not say where the agent starts.
  (:action arrive
    :parameters (?to - room)
    :precondition (forall (?r - room) (not (agent_at ?r)))
    :effect (and (forall (?p - place) (not (agent_at ?p))) (agent_at ?to)))

  ; To a thing in the room where the agent is.
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
