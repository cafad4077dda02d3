"""Place arguments from fields or columns that are not named after parameters, if their types leave no choice."""

from __future__ import annotations

from itertools import permutations
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.llm.loose.groups import Argument, split_commas
from plansafe.llm.loose.names import Match, Names, Refused, key
from plansafe.llm.structured.keys import field_words
from plansafe.verifier.model.nodes import Action

_LEFT = frozenset(("from", "source", "origin", "start"))
_REACHED = frozenset(("to", "destination", "target", "into", "onto"))
_MOST_PARAMETERS = 6
_HELP = "give the arguments as one list"


class Written(NamedTuple):
    """An argument, and its field."""

    text: str
    field: str


def objects_in(names: Names, text: str) -> list[str]:
    """Return the names of objects that a cell consists of, in order; none if it has other words."""
    parts = [part.strip() for part in split_commas(text)]
    return parts if parts and all([isinstance(names.find(part), Match) for part in parts]) else []


def place(names: Names, action: Action, written: list[Written]) -> tuple[Argument, ...] | Refused:
    """Return the arguments in the order of the fields.

    Refused where their number or types do not fit, and where another order of values from different fields fits too:
    unless the one field says where a step begins (``from``) and the other where it ends (``to``).
    """
    agents = names.task.domains[action.parameters[0].domain] if action.parameters else ()
    if len(written) + 1 == len(action.parameters) and len(agents) == 1:  # only one object can act
        first = Written(names.task.objects[agents[0]], action.parameters[0].name[1:])
        alternatives = [
            place(names, action, [*written[:at], first, *written[at:]]) for at in range(1, len(written) + 1)
        ]
        if any([not isinstance(alternative, Refused) for alternative in alternatives]):
            return Refused(SC.UNPLACED_ARGUMENT, f"which argument of `{action.name}` is missing cannot be told", _HELP)
        placed = place(names, action, [first, *written])
        return placed if isinstance(placed, Refused) else placed[1:]
    if len(written) != len(action.parameters) or len(written) > _MOST_PARAMETERS:
        return Refused(
            SC.UNPLACED_ARGUMENT, f"the arguments of `{action.name}` cannot be told from these fields", _HELP
        )
    parameters = [key(parameter.name[1:]) for parameter in action.parameters]
    fits = [_positions(names, action, argument.text) for argument in written]
    size = range(len(written))
    if not all([at in fits[at] for at in size]):
        return Refused(SC.UNPLACED_ARGUMENT, f"the arguments of `{action.name}` do not fit its parameters", _HELP)
    if any(
        [
            key(argument.field) in parameters and parameters[at] != key(argument.field)
            for at, argument in enumerate(written)
        ]
    ):
        return Refused(SC.UNPLACED_ARGUMENT, f"the fields of `{action.name}` stand in another order", _HELP)
    for order in permutations(size):
        moved = [at for at in size if order[at] != at]
        if not moved or not all([order[at] in fits[at] for at in moved]):
            continue
        fields = list(dict.fromkeys([written[at].field for at in moved]))
        fields_are_parameters = all([key(field) in parameters for field in fields])
        if len(fields) > 1 and not fields_are_parameters and not (len(moved) == 2 and _leads_to(*fields)):
            message = f"which argument of `{action.name}` is which cannot be told from these fields"
            return Refused(SC.UNPLACED_ARGUMENT, message, _HELP)
    return tuple([Argument(argument.text) for argument in written])


def _positions(names: Names, action: Action, text: str) -> frozenset[int]:
    """The parameters that a value has the type of."""
    match = names.find(text)
    if not isinstance(match, Match):
        return frozenset()
    index = names.task.object_index[match.name]
    sets = names.task.domain_sets
    return frozenset([at for at, parameter in enumerate(action.parameters) if index in sets[parameter.domain]])


def _leads_to(first: str, second: str) -> bool:
    """Whether the first field says where a step begins, and the second where it ends."""
    before, after = field_words(first), field_words(second)
    return bool(before & _LEFT and after & _REACHED) and not (before & _REACHED or after & _LEFT)
