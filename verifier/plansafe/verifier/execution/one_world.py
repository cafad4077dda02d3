"""What needs one world refuses descriptions that leave something open (docs/worlds.md).

Explicit replay, searches, simulations and monitors hold one state. They would take an open fact for false, and all
outcomes of a ``oneof`` for what happens: a wrong answer, so there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity
from plansafe.verifier.elaborate.context import Context, Place
from plansafe.verifier.model.nodes import OpenPredicate, Task, WorldInvariant

CODE = SC.NEEDS_ONE_WORLD


class NeedsOneWorld(ValueError):
    """A description of many worlds where one is needed; ``diagnostic`` says what is open, and where."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def nondeterministic_action(task: Task) -> str | None:
    """The name of an action with a ``oneof`` in its effect."""
    for action in task.actions.values():
        for snap in (action.start, action.end):
            if snap is not None and any([effect.choices for effect in snap.effects]):
                return action.name
    return None


class OpenFeature(NamedTuple):
    """Something that a description leaves open, in words, and its place."""

    what: str
    place: Label | None = None


def find_open_feature(
    task: Task, context: Context, openings: Sequence[OpenPredicate], invariants: Sequence[WorldInvariant]
) -> OpenFeature | None:
    """Something that is left open; ``None`` if there is one world alone. Linear in the effects of the domain."""
    if task.unknowns is not None:
        node = task.unknowns.node
        place = context.label(Place(node), "open") if isinstance(node, list) else None
        return OpenFeature("the initial state has unknown facts or numbers", place)
    name = nondeterministic_action(task)
    if name is not None:
        node = task.actions[name].node
        place = context.label(Place(node, 1), "`oneof` in its effect") if isinstance(node, list) else None
        return OpenFeature(f"action `{name}` has nondeterministic effects", place)
    said = [("has open predicates", opening.at) for opening in openings]
    said += [("has invariants", invariant.at) for invariant in invariants]
    for what, at in said:
        return OpenFeature(f"the specification {what}", context.label(at, "here") if isinstance(at, Place) else None)
    return None


def refusal_of(found: OpenFeature, what: str) -> Diagnostic:
    """Why ``what`` (`the repair of plans`, ..) is refused."""
    return Diagnostic(
        CODE,
        f"{what} needs complete information: {found.what}",
        () if found.place is None else (found.place,),
        help="give values for everything that is unknown, or request a verdict over all possible worlds",
        severity=Severity.WARNING,
    )
