"""The worlds that safecheck knows, by name; each is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plansafe.domains.world import World

_MODULES = {
    "behavior": "plansafe.domains.behavior",
    "despite": "plansafe.domains.despite",
    "safeagentbench": "plansafe.domains.safeagentbench",
    "safety-chip": "plansafe.domains.safety_chip",
    "virtualhome": "plansafe.domains.virtualhome",
}


def world_names() -> tuple[str, ...]:
    """The names of the worlds that have an importer, sorted."""
    return tuple(sorted(_MODULES))


def world(name: str) -> World:
    """The world of that name (letters of any case). ``KeyError`` if there is none."""
    found: World = import_module(_MODULES[name.lower()]).WORLD
    return found
