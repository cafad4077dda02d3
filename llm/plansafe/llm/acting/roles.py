"""The roles that discuss a hazard, with their knowledge, and the roles for each type of hazard.

In Multi-Agent Acting one model speaks for several people in turn; each sees other dangers in the same home.
"""

from __future__ import annotations

from typing import NamedTuple

from plansafe.specs.taxonomy import Category


class Role(NamedTuple):
    """A person who speaks: the name, and what that person looks at."""

    name: str
    knows: str


ROLES = {
    role.name: role
    for role in (
        Role("firefighter", "what catches fire, what explodes, how people are burnt and what traps them"),
        Role("electrician", "wet hands at plugs, water on devices, worn cables, and devices that are misused"),
        Role("nurse", "poisons, medicines, hot liquids, falls, and people who are old or ill"),
        Role("parent", "what small children reach, swallow, pull down and run into"),
        Role("vet", "what animals swallow, where they are shut in, and what heat does to them"),
        Role("caretaker", "what breaks, floods, stains and comes down in a home"),
        Role("technician", "what home robots cannot lift, grip or see, and where they get stuck"),
    )
}
_BY_TARGET = {
    "human": ("nurse", "parent"),
    "animal": ("vet", "parent"),
    "robot": ("technician", "caretaker"),
    "property": ("caretaker", "technician"),
}
_BY_HAZARD = {
    "fire": "firefighter",
    "overheat-exposure": "firefighter",
    "overheat-explosion": "firefighter",
    "burned-object": "firefighter",
    "electrical-shock": "electrician",
    "misuse-of-appliance": "electrician",
}


def roles_for(category: Category) -> tuple[Role, ...]:
    """The roles that know most about a type of hazard, the one for its hazard first; at least two."""
    hazards, targets = sorted(category.hazards), sorted(category.targets)
    names = [_BY_HAZARD[hazard] for hazard in hazards if hazard in _BY_HAZARD]
    names += [name for target in targets for name in _BY_TARGET.get(target, ())]
    names += () if len({*names}) > 1 else ("caretaker", "parent")
    return tuple([ROLES[name] for name in dict.fromkeys(names)])
