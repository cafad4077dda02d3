"""The states that a plan passes through, and the changes of each step.

A trace requires a sequential plan without times and a task without unknown facts. It ends before the first step that
cannot be executed.
"""

from __future__ import annotations

from typing import NamedTuple

from plansafe.app.session.model import Prepared
from plansafe.grammar.diagnostics import Span
from plansafe.verifier.execution.action_effects import Conflict
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge, StateChange
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Number

LIMITS = (NumberTooLarge, TooManyInstances, LimitReached, Conflict)


class Change(NamedTuple):
    """A fact or number that a step changed, as text: ``T``, ``F``, a number, or ``?`` if undefined."""

    fact: str
    before: str
    after: str

    @property
    def short(self) -> str:
        """The text of an inlay hint."""
        if (self.before, self.after) == ("F", "T"):
            return f"+{self.fact}"
        if (self.before, self.after) == ("T", "F"):
            return f"-{self.fact}"
        return f"{self.fact} {self.before} -> {self.after}"


class StateTrace:
    """The steps of a plan with their spans (``places``), and the changes of each executed step.

    ``unavailable_reason`` is the reason why the states cannot be shown, or empty.
    """

    def __init__(self, prepared: Prepared, previous: StateTrace | None = None) -> None:
        self.prepared = prepared
        steps_read = prepared.checker.read(prepared.plan)
        self.steps: tuple[GroundAction | IllFormed, ...] = steps_read.steps
        self.places: tuple[Span, ...] = prepared.places or steps_read.spans
        self.changes: list[tuple[Change, ...]] = []
        self.unavailable_reason = ""
        if prepared.checker.is_open or steps_read.is_open:
            self.unavailable_reason = (
                "the task has unknown facts or nondeterministic effects, so there are several possible worlds"
            )
        elif steps_read.timed is not None or not prepared.checker.is_stepwise:
            self.unavailable_reason = "its steps have times"
        elif len(self.places) != len(self.steps):
            self.unavailable_reason = "its steps are not in this file"
        if not self.unavailable_reason:
            self._execute(previous)

    def _execute(self, previous: StateTrace | None) -> None:
        """Execute the steps, reusing the execution of equal leading steps of the previous version."""
        engine = self.prepared.checker.engine
        shared = 0
        if previous is not None and not previous.unavailable_reason and previous.engine is engine:
            self._execution = previous.take_over()
            for old, new in zip(previous.steps[: len(previous.changes)], self.steps, strict=False):
                if old != new:
                    break
                shared += 1
            self.changes = previous.changes[:shared]
            self._execution.rollback(shared)
        else:
            self._execution = Execution(engine)
        for step in self.steps[shared:]:
            try:
                if isinstance(step, IllFormed) or not self._execution.take(step):
                    return
            except LIMITS:
                return
            self.changes.append(net_changes(engine, self._execution.changed, self._execution))

    @property
    def engine(self) -> Engine:
        """The engine that executes the plan."""
        return self.prepared.checker.engine

    def take_over(self) -> Execution:
        """Return the execution for the next version of the plan; this trace must not be used afterwards."""
        self.unavailable_reason = "a newer version of the plan exists"
        return self._execution

    def before(self, number: int) -> Execution | None:
        """Return the execution before step ``number`` (from 0) with rule monitors; ``None`` if the trace ends earlier.

        The steps are executed again, because the trace itself has no rule monitors.
        """
        if self.unavailable_reason or number > len(self.changes):
            return None
        execution = Execution.initial(self.engine, criteria=self.prepared.checker.options.criteria)
        try:
            for step in self.steps[:number]:
                if isinstance(step, IllFormed) or not execution.take(step):
                    return None
        except LIMITS:
            return None
        return execution

    def number_at(self, offset: int) -> int | None:
        """Return the index of the step at an offset."""
        return next((n for n, span in enumerate(self.places) if span.start <= offset <= span.end), None)


def net_changes(engine: Engine, log: list[StateChange], execution: Execution) -> tuple[Change, ...]:
    """Return the net changes of one step's log; facts that changed back are omitted."""
    task, predicate_count = engine.task, len(engine.task.predicates)
    first: dict[tuple[int, int], bool | Number | None] = {}
    for index, code, value in log:
        first.setdefault((index, code), (not value) if index < len(execution.state.facts) else value)
    out = []
    size = len(execution.state.facts)
    for (index, code), was in first.items():
        if index < size:
            holds = code in execution.state.facts[index]
            if index < predicate_count and holds is not was:
                out.append(Change(task.fact_text(index, code), "T" if was else "F", "T" if holds else "F"))
        else:
            value = execution.state.fluents[index - size].get(code)
            if value != was:
                assert not isinstance(was, bool)
                out.append(Change(task.fluent_text(index - size, code), _number(was), _number(value)))
    return tuple(sorted(out))


def _number(value: Number | None) -> str:
    return "?" if value is None else f"{float(value):g}" if value != int(value) else str(int(value))
