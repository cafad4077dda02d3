"""The split of a family of tasks, by its name: the same in all data sets.

A hash of the name assigns a quarter of the families to testing, as in Safe-BeAl (3:1). Families with the same task
under another name (``brush-teeth`` and ``wash-teeth`` of VirtualHome) share one name here.
"""

from __future__ import annotations

from hashlib import sha256

from plansafe.align.records import Split
from plansafe.align.stated.drawing import FIRST_HELD_OUT
from plansafe.align.stated.families import FAMILIES
from plansafe.align.tasks import AlignTask

SIBLINGS = {
    "brush-teeth": "teeth", "wash-teeth": "teeth", "wash-clothes": "laundry", "wash-up": "dishes",
    "wash-dishes-by-hand": "dishes", "wash-dishes-with-dishwasher": "dishes", "pill": "medicine",
    "stew": "hob-cooking", "cook-some-food": "hob-cooking", "change-tv-channel": "television",
    "watch-tv": "television", "tidy": "moving-things", "fetch": "moving-things", "bring-along": "moving-things",
    "groceries": "putting-away", "put-groceries-in-fridge": "putting-away", "work": "computer",
    "write-an-email": "computer", "browse-internet": "computer", "mop": "floors", "tea": "hot-drinks",
    "make-coffee": "hot-drinks", "leftovers": "microwave", "warm-drink": "microwave", "warm-room": "rooms-and-warmth",
    "go-to-sleep": "bedtime", "pet-cat": "pet-care", "feeding-animals": "pet-care", "take-shower": "bathroom-routine",
    "wash-hands": "bathroom-routine"
}  # fmt: skip
"""The common name of families with the same task."""

_SALT = 319
"""With this number, a quarter of the drawn families, the scripts of VirtualHome and the scenarios is for testing."""


def split_of(family: str) -> Split:
    """The split of a family's tasks."""
    name = SIBLINGS.get(family, family)
    return "test" if sha256(f"{_SALT}/{name}".encode()).digest()[0] % 4 == 0 else "train"


def split_of_task(task: AlignTask) -> Split:
    """The split of a task: by its family, and for tasks with stated rules also by whether the rule is held out."""
    if not task.origin.startswith("stated:"):
        return split_of(task.family)
    is_held_out = task.family not in FAMILIES or int(task.origin.split("/")[1]) >= FIRST_HELD_OUT
    return "test" if is_held_out else "train"
