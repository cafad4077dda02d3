"""What needs one world refuses descriptions that leave something open (docs/worlds.md).

Explicit replay, searches, simulations and monitors hold one state. They would take an open fact for false, and all
outcomes of a ``oneof`` for what happens: a wrong answer, so there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plansafe.grammar.diagnostics import Diagnostic, Label, Severity
from plansafe.verifier.elaborate.context import At
from plansafe.verifier.model.nodes import Task

if TYPE_CHECKING:
    from plansafe.verifier.api import Checker
    from plansafe.verifier.execution.reading import ReadSteps

CODE = "SC507"


class LeavesOpen(ValueError):
    """A description of many worlds where one is needed; ``diagnostic`` says what is open, and where."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def task_is_open(task: Task) -> bool:
    """Whether the domain or the problem leaves anything open. Linear in the effects of the domain."""
    return task.unknowns is not None or first_choice(task) is not None


def first_choice(task: Task) -> str | None:
    """The name of an action with a ``oneof`` in its effect."""
    for action in task.actions.values():
        for snap in (action.start, action.end):
            if snap is not None and any([effect.choices for effect in snap.effects]):
                return action.name
    return None


def refusal(checker: Checker, what: str, read: ReadSteps | None = None) -> Diagnostic | None:
    """Why ``what`` (`the repair of plans`, ..) is refused; ``None`` if there is one world alone."""
    found = _what_is_open(checker) if checker.open else None
    if found is None and read is not None and read.open:
        found = "the plan leaves its order or its durations open", None
    if found is None:
        return None
    reason, label = found
    return Diagnostic(
        CODE,
        f"{what} needs complete information: {reason}",
        () if label is None else (label,),
        help="decide what is open, or ask for a verdict over all worlds",
        severity=Severity.WARNING,
    )


def require(checker: Checker, what: str, read: ReadSteps | None = None) -> None:
    """Raise :class:`LeavesOpen` unless there is one world alone."""
    diagnostic = refusal(checker, what, read)
    if diagnostic is not None:
        raise LeavesOpen(diagnostic)


def _what_is_open(checker: Checker) -> tuple[str, Label | None] | None:
    """Something that the description leaves open, in words, and its place."""
    if checker.elaborated is None:
        return None
    task, context = checker.elaborated.task, checker.context
    if task.unknowns is not None:
        node = task.unknowns.node
        at = At(node) if isinstance(node, list) else None
        return "the initial state leaves something open", None if at is None else context.label(at, "open")
    name = first_choice(task)
    if name is not None:
        node = task.actions[name].node
        label = context.label(At(node, 1), "`oneof` in its effect") if isinstance(node, list) else None
        return f"what action `{name}` does is left open", label
    places = [("leaves facts open", opening.at) for opening in checker.openings]
    places += [("says what is so in every world", invariant.at) for invariant in checker.invariants]
    for what, place in places:
        return f"the specification {what}", context.label(place, "here") if isinstance(place, At) else None
    return None
