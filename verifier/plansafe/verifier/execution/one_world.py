"""Refuse open tasks where one world is needed (docs/worlds.md).

Explicit replay, searches, simulations and monitors have one state. With an open task they would give a wrong answer:
they would treat an open fact as false and all outcomes of a ``oneof`` as happening.
"""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.elaborate.context import Context, Place
from plansafe.verifier.model.nodes import OpenPredicate, Task, WorldInvariant


class NeedsOneWorld(ValueError):
    """An open task where one world is needed; ``diagnostic`` shows the open feature and its place."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def find_nondeterministic_action(task: Task) -> str | None:
    """Return the name of an action with a ``oneof`` in an effect; ``None`` if there is none."""
    for action in task.actions.values():
        for snap in (action.start, action.end):
            if snap is not None and any([effect.choices for effect in snap.effects]):
                return action.name
    return None


class OpenFeature(NamedTuple):
    """Something that a task leaves open, in words, and its place."""

    description: str
    place: Label | None = None


def find_open_feature(
    task: Task, context: Context, openings: Sequence[OpenPredicate], invariants: Sequence[WorldInvariant]
) -> OpenFeature | None:
    """Return something that a task leaves open; ``None`` if it has one world. Linear in the domain's effects."""
    if task.unknowns is not None:
        node = task.unknowns.node
        place = context.label(Place(node), "open") if isinstance(node, list) else None
        return OpenFeature("the initial state has unknown facts or numbers", place)
    name = find_nondeterministic_action(task)
    if name is not None:
        node = task.actions[name].node
        place = context.label(Place(node, 1), "`oneof` in its effect") if isinstance(node, list) else None
        return OpenFeature(f"action `{name}` has nondeterministic effects", place)
    if openings:
        description, at = "the specification has open predicates", openings[0].at
    elif invariants:
        description, at = "the specification has invariants", invariants[0].at
    else:
        return None
    return OpenFeature(description, context.label(at, "here") if isinstance(at, Place) else None)


def make_continuous_refusal(capability: str) -> Diagnostic:
    """Return why ``capability`` ("the repair of plans", ..) is refused in continuous time."""
    message = f"{capability} does not support continuous time: the domain has processes, events or effects with `#t`"
    help = "check the plan itself, or replace the continuous change by effects of steps"
    return Diagnostic(SC.CONTINUOUS_TIME, message, help=help, severity=Severity.WARNING)


def make_refusal(feature: OpenFeature, capability: str) -> Diagnostic:
    """Return why ``capability`` ("the repair of plans", ..) is refused for a task with an open feature."""
    return Diagnostic(
        SC.NEEDS_ONE_WORLD,
        f"{capability} needs complete information: {feature.description}",
        () if feature.place is None else (feature.place,),
        help="give values for everything that is unknown, or request a verdict over all possible worlds",
        severity=Severity.WARNING,
    )
