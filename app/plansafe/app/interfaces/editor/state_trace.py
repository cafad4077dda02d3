"""The states along a plan, step by step, as the execution has them: what each step changed, and what holds before it.

Only plans whose steps have an order and no times are walked, in the one world that is described; the walk ends before
the first step that cannot be taken, as the verdict's first reading does.
"""

from __future__ import annotations

from typing import NamedTuple

from plansafe.app.session.model import Prepared
from plansafe.grammar.diagnostics import Span
from plansafe.verifier.execution.actions import Conflict
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge, StateChange
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Number

LIMITS = (NumberTooLarge, TooManyInstances, LimitReached, Conflict)


class Change(NamedTuple):
    """A fact or number that a step changed, as text: ``T``, ``F`` or a number, ``?`` where it was undefined."""

    what: str
    before: str
    after: str

    @property
    def short(self) -> str:
        """What a hint says of it."""
        if (self.before, self.after) == ("F", "T"):
            return f"+{self.what}"
        if (self.before, self.after) == ("T", "F"):
            return f"-{self.what}"
        return f"{self.what} {self.before} -> {self.after}"


class Walk:
    """A plan that was walked. ``steps`` are those of the text, ``places`` where they stand, ``why`` why there are none.

    ``changes`` has one entry for each step that was taken.
    """

    def __init__(self, prepared: Prepared, before: Walk | None = None) -> None:
        self.prepared = prepared
        read = prepared.checker.read(prepared.plan)
        self.steps: tuple[GroundAction | IllFormed, ...] = read.steps
        self.places: tuple[Span, ...] = prepared.places or read.spans
        self.changes: list[tuple[Change, ...]] = []
        self.why = ""
        if prepared.checker.open or read.open:
            self.why = "something is left open, so that there are many worlds"
        elif read.timed is not None:
            self.why = "its steps have times"
        elif len(self.places) != len(self.steps):
            self.why = "its steps stand elsewhere"
        if not self.why:
            self._go(before)

    def _go(self, before: Walk | None) -> None:
        """Take the steps; those that an earlier version of the plan begins with were taken then."""
        engine = self.prepared.checker.engine
        same = 0
        if before is not None and not before.why and before.engine is engine:
            self._now = before.take_over()
            for old, new in zip(before.steps[: len(before.changes)], self.steps, strict=False):
                if old != new:
                    break
                same += 1
            self.changes = before.changes[:same]
            self._now.rollback(same)
        else:
            self._now = Execution(engine)
        for step in self.steps[same:]:
            try:
                if isinstance(step, IllFormed) or not self._now.take(step):
                    return
            except LIMITS:
                return
            self.changes.append(told(engine, self._now.changed, self._now))

    @property
    def engine(self) -> Engine:
        """What runs it."""
        return self.prepared.checker.engine

    def take_over(self) -> Execution:
        """The execution, for the next version of the plan; this one is of no more use."""
        self.why = "a newer version was walked"
        return self._now

    def before(self, number: int) -> Execution | None:
        """The state before step ``number`` (from 0), with the rules watched; ``None`` if the walk ends earlier.

        The steps are taken again: rules are watched where they are asked about, and nowhere else.
        """
        if self.why or number > len(self.changes):
            return None
        now = Execution.initial(self.engine, question=self.prepared.checker.options.question)
        try:
            for step in self.steps[:number]:
                if isinstance(step, IllFormed) or not now.take(step):
                    return None
        except LIMITS:
            return None
        return now

    def number_at(self, offset: int) -> int | None:
        """Which step stands at a place."""
        return next((n for n, span in enumerate(self.places) if span.start <= offset <= span.end), None)


def told(engine: Engine, log: list[StateChange], now: Execution) -> tuple[Change, ...]:
    """What a log of one step came to: facts that were changed and changed back are left out."""
    task, base = engine.task, len(engine.task.predicates)
    first: dict[tuple[int, int], bool | Number | None] = {}
    for index, code, value in log:
        first.setdefault((index, code), (not value) if index < len(now.state.facts) else value)
    out = []
    size = len(now.state.facts)
    for (index, code), was in first.items():
        if index < size:
            holds = code in now.state.facts[index]
            if index < base and holds is not was:
                out.append(Change(task.fact_text(index, code), "T" if was else "F", "T" if holds else "F"))
        else:
            value = now.state.fluents[index - size].get(code)
            if value != was:
                assert not isinstance(was, bool)
                out.append(Change(task.fluent_text(index - size, code), _number(was), _number(value)))
    return tuple(sorted(out))


def _number(value: Number | None) -> str:
    return "?" if value is None else f"{float(value):g}" if value != int(value) else str(int(value))
