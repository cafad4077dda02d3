"""The outcome of one reading of a plan, with its failed steps."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.execution.engine import Limit
from plansafe.verifier.execution.monitors.finding import Violation
from plansafe.verifier.execution.state import State, StateChange
from plansafe.verifier.execution.steps import IllFormed
from plansafe.verifier.model.evaluation import UnmetLiteral
from plansafe.verifier.model.nodes import Number

HappeningEvents = dict[int, tuple[tuple[int, str], ...]]
"""By letter, the events that led to it: each is a step and ``start`` or ``end``."""
LetterChanges = tuple[int, int, list[StateChange]]
"""A letter, the step that led to it, and the changes; a plain tuple, because a replay may keep one for each step."""


class Failure(NamedTuple):
    """A step that could not be taken, and why.

    ``detail``, by ``code``: the undefined number, the fluent or fact of a conflict, the event (start or end) whose
    condition fails, the required duration, or the time; otherwise empty. ``interfering_step``: the step that interferes
    with this one; 0 if the failure has another cause, or if a timed literal interferes.
    """

    step: int
    code: str
    detail: str = ""
    ill_formed: IllFormed | None = None
    interfering_step: int = 0


class LetterCause(NamedTuple):
    """What led to a letter without a step of the plan: an event, or the ``time`` alone, as in "at time 5".

    ``event`` is empty without events. In an interval, numbers have values of some time in it.
    """

    time: str
    event: str = ""
    is_interval: bool = False


class Outcome(NamedTuple):
    """The result of one reading of a plan.

    ``executed_count`` of the plan's ``step_count`` steps were executed. ``end_time`` is the time of the last letter.
    ``goal``: whether the goal holds there; ``None`` if it is undefined. ``undecided``: the rule part and binding of
    every instance that could not be decided. ``limit``: the limit that was reached; then the outcome is incomplete.
    """

    reading: str
    executed_count: int
    step_count: int
    last_letter: int
    end_time: Number
    failures: tuple[Failure, ...]
    goal: bool | None
    violations: tuple[Violation, ...]
    undecided: tuple[tuple[int, tuple[int, ...]], ...]
    match_counts: tuple[int, ...]
    """By rule, the number of bindings under which steps matched a rule about steps."""
    trigger_counts: tuple[int, ...]
    """By rule, how many bindings changes or matching steps could have affected; empty without monitors."""
    limit: Limit | None
    preference_violations: dict[str, int]
    state: State
    unmet_literals: dict[int, tuple[UnmetLiteral, ...]]
    """By failed step, the literals that keep its condition from holding."""
    trace: list[LetterChanges] | None = None
    """All changes since the start (*halt*) or since the failed step (other readings); ``None`` if they are not kept."""
    step_of_letter: list[int] | None = None
    """In an untimed plan, the step that led to each letter; ``None``: step i led to letter i."""
    events: HappeningEvents | None = None
    """The events of a timed plan; ``None`` for an untimed plan."""
    rounded_steps: frozenset[int] = frozenset()
    """The steps of a timed plan that would fail if the last decimal were not tolerated."""
    causes: Mapping[int, LetterCause] = MappingProxyType({})
    """In continuous time, the causes of the letters that no step led to."""
