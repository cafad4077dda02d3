"""Names of objects, by type. A task draws its names at random, so that a name says nothing about its role."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

NAMES: Mapping[str, tuple[str, ...]] = {
    "room": ("kitchen", "hall", "attic", "cellar", "office", "bedroom", "bathroom", "garage", "study", "pantry"),
    "thing": ("mug", "cup", "knife", "book", "vase", "bottle", "plate", "jar", "towel", "scarf", "candle", "phone"),
    "surface": ("table", "shelf", "desk", "counter", "bench", "stool", "ledge", "tray", "rack", "stand"),
    "box": ("crate", "drawer", "cupboard", "chest", "locker", "trunk", "cabinet", "fridge", "bin", "closet"),
    "device": ("fan", "heater", "lamp", "radio", "kettle", "oven", "toaster", "mixer", "iron", "dryer"),
    "person": ("anna", "ben", "clara", "david", "emma", "felix", "grace", "henry", "ida", "jonas"),
}


class NameDraw:
    """Draws names without repetition."""

    def __init__(self, random: Random) -> None:
        self._left = {kind: random.sample(names, len(names)) for kind, names in NAMES.items()}

    def take(self, kind: str) -> str:
        """The next name of a type."""
        return self._left[kind].pop()
