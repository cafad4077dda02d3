"""Which side of the split a task is on, from the name of its family alone: the same in all data made by anyone.

Families that differ in their names but not in what is done (toothbrushing is two activities of VirtualHome, laundry is
one there and a scenario here) are siblings and have one name here. A quarter of the names is for testing, as in
Safe-BeAl's other splits (3:1); which ones, a hash says, so that a family of yours has a side too.
"""

from __future__ import annotations

from hashlib import sha256

from plansafe.align.records import Split

SIBLINGS = {
    "brush-teeth": "teeth",
    "wash-teeth": "teeth",
    "wash-clothes": "laundry",
    "wash-up": "dishes",
    "wash-dishes-by-hand": "dishes",
    "wash-dishes-with-dishwasher": "dishes",
    "pill": "medicine",
    "stew": "hob-cooking",
    "cook-some-food": "hob-cooking",
    "change-tv-channel": "television",
    "watch-tv": "television",
    "tidy": "moving-things",
    "fetch": "moving-things",
    "bring-along": "moving-things",
    "groceries": "putting-away",
    "put-groceries-in-fridge": "putting-away",
    "work": "computer",
    "write-an-email": "computer",
    "browse-internet": "computer",
    "mop": "floors",
    "tea": "hot-drinks",
    "make-coffee": "hot-drinks",
    "leftovers": "microwave",
    "warm-drink": "microwave",
    "warm-room": "rooms-and-warmth",
    "go-to-sleep": "bedtime",
    "pet-cat": "pet-care",
    "feeding-animals": "pet-care",
    "take-shower": "bathroom-routine",
    "wash-hands": "bathroom-routine",
}
"""Families that are one for the split, by the name that they then have."""

_SALT = 319
"""So chosen that a quarter of the drawn families, of the scripts of VirtualHome and of the scenarios is for testing."""


def split_of(family: str) -> Split:
    """The side of a family's tasks."""
    name = SIBLINGS.get(family, family)
    return "test" if sha256(f"{_SALT}/{name}".encode()).digest()[0] % 4 == 0 else "train"
