"""The classes of AI2-THOR's objects and what can be done with them, where a scene does not say so itself."""

from __future__ import annotations

from collections.abc import Mapping

# AI2-THOR's name of a property, and the predicate of the domain.
PROPERTIES: Mapping[str, str] = {
    "pickupable": "pickupable",
    "receptacle": "receptacle",
    "openable": "openable",
    "toggleable": "toggleable",
    "sliceable": "sliceable",
    "breakable": "breakable",
    "canFillWithLiquid": "fillable",
    "dirtyable": "dirtyable",
    "cookable": "cookable",
}
_LETTERS = dict(zip("protsbfdk", PROPERTIES.values(), strict=True))

# A class, and the letters of its properties: Pickupable, Receptacle, Openable, Toggleable, Sliceable, Breakable,
# Fillable, Dirtyable, cooKable. (`r` is receptacle, `o` openable.)
_TABLE = """
AlarmClock p | AluminumFoil p | Apple ps | AppleSliced p | ArmChair r | BaseballBat p | BasketBall p
Bathtub r | BathtubBasin r | Bed rd | Blinds o | Book po | Boots p | Bottle pfb | Bowl prfbd | Box pro
Bread ps | BreadSliced pk | ButterKnife p | CD p | Cabinet ro | Candle pt | CellPhone ptb | Chair r | Cloth pd
CoffeeMachine rtf | CoffeeTable r | CounterTop r | CreditCard p | Cup prfbd | Curtains | Desk r | DeskLamp t
Desktop | DiningTable r | DishSponge p | DogBed r | Drawer ro | Dresser r | Dumbbell p | Egg psb
EggCracked pk | Faucet t | Floor r | FloorLamp t | Footstool r | Fork p | Fridge ro | GarbageBag
GarbageCan r | HandTowel p | HandTowelHolder r | HousePlant f | Kettle pof | KeyChain p | Knife p | Ladle p
Laptop potb | LaundryHamper ro | Lettuce ps | LettuceSliced p | LightSwitch t | Microwave rot | Mirror bd
Mug prfbd | Newspaper p | Ottoman r | Painting | Pan prd | PaperTowelRoll p | Pen p | Pencil p
PepperShaker p | Pillow p | Plate prbd | Plunger p | Poster | Pot prfd | Potato psk | PotatoSliced pk
RemoteControl p | RoomDecor | Safe ro | SaltShaker p | ScrubBrush p | Shelf r | ShelvingUnit r
ShowerCurtain o | ShowerDoor ob | ShowerGlass b | ShowerHead t | SideTable r | Sink r | SinkBasin r
SoapBar p | SoapBottle p | Sofa r | Spatula p | Spoon p | SprayBottle p | Statue pb | Stool r | StoveBurner rt
StoveKnob t | TVStand r | TableTopDecor p | TeddyBear p | Television tb | TennisRacket p | TissueBox p
Toaster rt | Toilet ro | ToiletPaper p | ToiletPaperHanger r | Tomato ps | TomatoSliced p | Towel p
TowelHolder r | VacuumCleaner | Vase pb | Watch p | WateringCan pf | Window b | WineBottle pfb
"""

# By the name in PDDL: AI2-THOR's name of the class, and the predicates of what can be done with it.
CLASSES: Mapping[str, tuple[str, frozenset[str]]] = {
    words[0].lower(): (words[0], frozenset([_LETTERS[letter] for letter in "".join(words[1:])]))
    for words in [entry.split() for entry in _TABLE.replace("\n", "|").split("|")]
    if words
}
# What the pieces of a sliced or cracked thing are.
PIECES: Mapping[str, str] = {
    name: piece for name in CLASSES for piece in (f"{name}sliced", f"{name}cracked") if piece in CLASSES
}
# Names of classes in older layouts of AI2-THOR and in published steps, and the class of today.
OTHER_NAMES: Mapping[str, str] = {
    "glassbottle": "bottle",
    "lamp": "desklamp",
    "counter": "countertop",
    "papertowel": "papertowelroll",
    "toiletpaperroll": "toiletpaper",
}
LIQUIDS = ("water", "coffee", "wine")
