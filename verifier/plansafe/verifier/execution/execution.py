"""An untimed execution as a value: a state, what the rules remember of the past, and steps that make new ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from plansafe.verifier.execution.actions import Conflict, combine_effects, interpret_effects
from plansafe.verifier.execution.broken_instances import (
    BrokenInstance,
    StepOption,
    decisive,
    has_lasting_violation,
    lasting_violations,
    new_violations,
    undecided_instances,
)
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.monitors.finding import TooManyInstances, Violation
from plansafe.verifier.execution.monitors.index import FactIndexes
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.execution.monitors.monitor_key import Key, monitor_key
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.monitors.trace_operators import LetterTime
from plansafe.verifier.execution.one_world import NeedsOneWorld
from plansafe.verifier.execution.state import State, StateChange
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.evaluation import Evaluator, UndefinedNumber
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import And, Number
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria

StateKey = tuple[frozenset[int] | frozenset[tuple[int, Number]], ...]


class _Past(NamedTuple):
    """What a step is taken back with."""

    log: list[StateChange]
    runtime: Runtime | None
    before: Runtime | None


class Execution:
    """Where an execution stands. :meth:`after` leaves it as it is; :meth:`take` moves it on, :meth:`undo` back.

    ``runtime`` holds the monitors, and is ``None`` where no rule is watched. ``criteria`` says which violations count.
    ``history`` has the steps that can be taken back.
    Copies share what neither changes. Durative actions are not executed: their starts and ends need a clock. Raises
    :class:`~plansafe.verifier.execution.one_world.LeavesOpen` where a description leaves something open.
    """

    __slots__ = (
        "_before",
        "_indexes",
        "_mine",
        "_pictures",
        "criteria",
        "engine",
        "history",
        "letter",
        "runtime",
        "state",
        "task",
    )

    def __init__(
        self,
        engine: Engine,
        state: State | None = None,
        runtime: Runtime | None = None,
        letter: int = 0,
        criteria: VerdictCriteria = EVERY_VIOLATION,
    ) -> None:
        if engine.refusal is not None:
            raise NeedsOneWorld(engine.refusal)
        self.engine = engine
        self.task = engine.task
        self.state = engine.initial() if state is None else state
        self.runtime = runtime
        self.letter = letter
        self.criteria = criteria
        self.history: list[_Past] = []
        self._before: Runtime | None = None
        """The monitors before the last step."""
        self._indexes: FactIndexes | None = None if runtime is None else runtime.indexes
        self._mine: set[int] | None = None
        """The predicates (and fluents) whose sets no copy shares; ``None``: all."""
        self._pictures: dict[int, frozenset[int] | frozenset[tuple[int, Number]]] = {}
        """Of the predicates (and fluents) that have not changed since a key was asked for, their part of it."""

    @classmethod
    def initial(cls, engine: Engine, rules: bool = True, criteria: VerdictCriteria = EVERY_VIOLATION) -> Execution:
        """At S0, with fresh monitors."""
        now = cls(engine, criteria=criteria)
        if rules:
            now.runtime = engine.runtime(False, now.state)
            if now.runtime is not None:
                now._indexes = now.runtime.indexes
        return now

    # -- copies -------------------------------------------------------------------------------------------------------

    def fork(self) -> Execution:
        """An independent execution that stands here. What neither changes is shared: a few microseconds."""
        copy = Execution.__new__(Execution)
        copy.engine, copy.task, copy.letter, copy.criteria = self.engine, self.task, self.letter, self.criteria
        copy.state = self.state.shared_copy()
        copy._mine, self._mine = set(), set()  # noqa: SLF001 - of its own class
        copy._pictures = dict(self._pictures)  # noqa: SLF001 - of its own class
        copy.runtime, copy._before = self.runtime, self._before  # a step makes a new one  # noqa: SLF001 - of its own class
        copy._indexes = self._indexes  # noqa: SLF001 - of its own class
        if self.runtime is None and self._indexes is not None:
            copy._indexes = self._indexes.fork()  # noqa: SLF001 - of its own class
        copy.history = []
        return copy

    def without_rules(self) -> Execution:
        """A copy that watches no rule: what can be done and reached from here, in a fraction of the time."""
        copy = self.fork()
        if copy.runtime is not None:
            copy.runtime = copy._before = copy._indexes = None  # noqa: SLF001 - of its own class
        return copy

    def after(self, step: GroundAction) -> Execution | None:
        """The execution one step later, or ``None`` if the step cannot be taken.

        Costs what the step changes, and what that triggers. The rules may be broken then: see :attr:`broken`. Raises
        :class:`NumberTooLarge` and :class:`TooManyInstances`.
        """
        new = self.fork()
        return new if new.take(step) else None

    def _own(self, changed: Iterable[int]) -> None:
        """Copy the sets of predicates (and fluents) that will change, where a copy of this execution shares them."""
        if self._mine is not None:
            self.state.unshare(changed, self._mine)

    def _forget(self, log: Iterable[StateChange]) -> None:
        """What changes looks different in the next key."""
        if self._pictures:
            for index, _, _ in log:
                self._pictures.pop(index, None)

    # -- steps --------------------------------------------------------------------------------------------------------

    def take(self, step: GroundAction) -> bool:
        """Take a step in place; ``False`` (and nothing is different) if it cannot be taken.

        Raises :class:`NumberTooLarge`, and (nothing is different then) :class:`TooManyInstances` and
        :class:`LimitReached`.
        """
        engine, runtime, state = self.engine, self.runtime, self.state
        next_ = None if runtime is None else runtime.fork()
        if next_ is not None:
            engine.announce_step(next_, state, step, LetterTime(self.letter, self.letter, False))
        log: list[StateChange] = []
        if not self._move(step, log):
            return False
        self.history.append(_Past(log, runtime, self._before))
        if next_ is not None:
            self._before, self.runtime, self._indexes = runtime, next_, next_.indexes
            try:
                next_.enter_state(state, log, LetterTime(self.letter, self.letter, False))
            except (LimitReached, TooManyInstances):
                self.undo()
                raise
        elif self._indexes is not None:
            self._indexes.update(log)
        return True

    def follow(self, steps: Iterable[GroundAction]) -> bool:
        """Take steps in place; ``False`` if a step cannot be taken.

        The monitors are copied once, not at each step. This is much faster than :meth:`take`, but the steps cannot be
        undone and :attr:`new_violations` does not describe them. After ``False`` or an exception (those of
        :meth:`take`), the execution must not be used.
        """
        state = self.state
        self.history.clear()
        now = None if self.runtime is None else self.runtime.fork()
        for step in steps:
            if now is not None:
                self.engine.announce_step(now, state, step, LetterTime(self.letter, self.letter, False))
            log: list[StateChange] = []
            if not self._move(step, log):
                return False
            if now is not None:
                now.enter_state(state, log, LetterTime(self.letter, self.letter, False))
            elif self._indexes is not None:
                self._indexes.update(log)
        if now is not None:
            self._before, self.runtime, self._indexes = None, now, now.indexes
        return True

    def _move(self, step: GroundAction, log: list[StateChange]) -> bool:
        """Change the state alone, and note what changes; whether the step can be taken."""
        engine, state = self.engine, self.state
        self._own(engine.changed_indexes(step.action))
        run = engine.full_code.step_function(step.action)
        try:
            if not run(state.facts, state.fluents, log, *step.objects):
                return False
        except (KeyError, ZeroDivisionError, Conflict):
            if not self._take_slowly(step, log):
                return False
        if engine.axioms is not None:
            engine.axioms.update(state.facts, state.fluents, log)
        self._forget(log)
        self.letter += 1
        return True

    @property
    def changed(self) -> list[StateChange]:
        """What the last step changed; nothing at the start."""
        return self.history[-1].log if self.history else []

    def _take_slowly(self, step: GroundAction, log: list[StateChange]) -> bool:
        evaluator = Evaluator(self.task, self.state.facts, self.state.fluents)
        binding = step.binding
        if evaluator.holds(And(step.action.start.condition), binding) is not True:
            return False
        try:
            delta = combine_effects(self.state.fluents, [interpret_effects(evaluator, step.action.start, binding)])
        except (UndefinedNumber, Conflict, KeyError, ZeroDivisionError):
            return False
        self.state.apply(delta, log)
        return True

    def record_observation(self, log: list[StateChange]) -> None:
        """The state was changed from outside, by what was observed: what cannot be taken back."""
        self.history.clear()
        self._forget(log)
        if self._indexes is not None and self.runtime is None:
            self._indexes.update(log)

    def undo(self) -> None:
        """Take the last step back. Raises ``IndexError`` at the start."""
        past = self.history.pop()
        self.letter -= 1
        self._own([index for index, _, _ in past.log])
        self._forget(past.log)
        if past.runtime is not None:
            self.runtime, self._before, self._indexes = past.runtime, past.before, past.runtime.indexes
        elif self._indexes is not None:
            self._indexes.update([(index, code, not value) for index, code, value in reversed(past.log)])
        self.state.undo(list(past.log))

    def mark(self) -> int:
        """A point to come back to with :meth:`rollback`."""
        return len(self.history)

    def rollback(self, mark: int) -> None:
        """Take back every step since ``mark``."""
        while len(self.history) > mark:
            self.undo()

    # -- what can be done ---------------------------------------------------------------------------------------------

    def legal(self, *names: str) -> Iterator[GroundAction]:
        """All legal ground actions of the present state (of the named actions only, if any are named), each once."""
        legal = self.engine.legal
        searches = legal.searches_for(names)
        return legal.find(self.state, self._covering(legal.index_specs), searches)

    def _covering(self, asked: set[tuple[int, tuple[int, ...]]]) -> FactIndexes:
        """The indexes of the present state, with those that searches ask for."""
        if self._indexes is None:
            self._indexes = FactIndexes(self.engine.emitter, asked)
            self._indexes.build(self.state.facts)
        self._indexes.cover(self.engine.emitter, asked, self.state.facts)
        return self._indexes

    def options(self, *names: str) -> list[StepOption]:
        """All legal steps of the present state, each with the instances of rules that it would break.

        Equal to :attr:`new_violations` of :meth:`after` for each step, but faster: what the steps have in common is
        evaluated once, and a monitor is asked only about the steps that concern it.
        """
        steps = list(self.legal(*names))
        if self.runtime is None:
            return [StepOption(step) for step in steps]
        from plansafe.verifier.execution.step_options import StepForesight  # noqa: PLC0415 - for searches alone

        return StepForesight(self.engine, self.state, self.runtime, self.letter).options(steps)

    # -- verdicts -----------------------------------------------------------------------------------------------------

    @property
    def new_violations(self) -> tuple[BrokenInstance, ...]:
        """What the last step broke: the instances of rules whose violation decides since, or that it made undecided."""
        if self.runtime is None or self._before is None:
            return ()
        return new_violations(self._before, self.runtime, self.criteria)

    @property
    def lasting_violations(self) -> tuple[BrokenInstance, ...]:
        """The instances of rules that are violated, or undecided, whatever comes: what every step and S0 broke."""
        return () if self.runtime is None else lasting_violations(self.runtime, self.criteria)

    @property
    def broken(self) -> bool:
        """Whether some rule is violated, whatever comes, so that it decides."""
        return self.runtime is not None and has_lasting_violation(self.runtime, self.criteria)

    @property
    def undecided(self) -> bool:
        """Whether some rule met an undefined number, so that no verdict but UNKNOWN is left."""
        runtime = self.runtime
        if runtime is None:
            return False
        silent = runtime.rule_set.parts_below_severity(self.criteria)
        everyone = [*runtime.monitors, *[check for checks in runtime.checks.values() for check in checks]]
        return any([bool(m.undecided) and not _last(m) and m.part not in silent for m in everyone])

    @property
    def accepted(self) -> bool:
        """Whether the execution may end here: the goal is reached and every rule kept."""
        if self.engine.goal(self.state) is not True:
            return False
        end = self.finished_runtime()
        if end is None:
            return True
        return not self._decisive(end)

    @property
    def violations_at_end(self) -> tuple[BrokenInstance, ...]:
        """The instances of rules that would be violated, or undecided, if the execution ended here."""
        end = self.finished_runtime()
        return () if end is None else self._decisive(end)

    def _decisive(self, end: Runtime) -> tuple[BrokenInstance, ...]:
        found = {BrokenInstance(v.part, v.binding) for v in end.violations() if self._counts(v)}
        return decisive(end, {*found, *undecided_instances(end)}, self.criteria)

    def first_violated_step(self, ends: bool = True) -> int | None:
        """The first step at which a rule would be violated if the execution ended here, if any.

        Unless it ``ends`` here, what is judged at the end does not count.
        """
        end = self.finished_runtime()
        if end is None:
            return None
        found = [v for v in end.violations() if self._counts(v) and (ends or not v.at_end)]
        return min([v.step for v in found], default=None)

    def finished_runtime(self) -> Runtime | None:
        """What the monitors would say if the execution ended here; ``None`` if no rule is watched.

        Raises :class:`TooManyInstances`.
        """
        if self.runtime is None:
            return None
        end = self.runtime.fork()
        end.finish(self.state, LetterTime(self.letter, self.letter, False))
        return end

    def _counts(self, violation: Violation) -> bool:
        return self.engine.decides(violation, self.criteria)

    # -- keys ---------------------------------------------------------------------------------------------------------

    def state_key(self) -> StateKey:
        """A hashable picture of what may change in the state (derived facts follow from it)."""
        pictures, state = self._pictures, self.state
        base = len(state.facts)
        for index in self.engine.changeable_indexes:
            if index not in pictures:
                pictures[index] = _picture(state, index, base)
        return tuple([pictures[index] for index in self.engine.changeable_indexes])

    def key(self) -> tuple[StateKey, Key]:
        """Equal for executions with equal futures."""
        return self.state_key(), monitor_key(self.runtime, self.letter, self.criteria)


def changeable_facts(engine: Engine, state: State) -> StateKey:
    """The facts of a state that some action changes, and its numbers."""
    base = len(state.facts)
    return tuple([_picture(state, index, base) for index in engine.changeable_indexes])


def _picture(state: State, index: int, base: int) -> frozenset[int] | frozenset[tuple[int, Number]]:
    return frozenset(state.facts[index]) if index < base else frozenset(state.fluents[index - base].items())


def _last(monitor: object) -> bool:
    return isinstance(monitor, Invariant) and monitor.final
