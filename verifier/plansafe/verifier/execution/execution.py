"""An untimed execution as a value: a state, the memory of the rules, and steps that make new executions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from plansafe.verifier.compile.code_builder import IndexKey
from plansafe.verifier.execution.action_effects import Conflict, combine_effects, interpret_effects
from plansafe.verifier.execution.broken_instances import (
    BrokenInstance,
    StepOption,
    find_lasting_violations,
    find_new_violations,
    find_undecided_instances,
    has_lasting_violation,
    select_decisive,
)
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.monitors.finding import TooManyInstances, Violation
from plansafe.verifier.execution.monitors.index import FactIndexes
from plansafe.verifier.execution.monitors.invariant import InvariantMonitor
from plansafe.verifier.execution.monitors.monitor_key import MonitorKey, make_monitor_key
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.monitors.trace_operators import LetterTime
from plansafe.verifier.execution.one_world import NeedsOneWorld
from plansafe.verifier.execution.state import State, StateChange
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.evaluation import Evaluator, UndefinedNumber
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import And, Number
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria

KeyPart = frozenset[int] | frozenset[tuple[int, Number]]
"""The facts of a predicate, or the values of a function, in a key."""
StateKey = tuple[KeyPart, ...]


class _UndoRecord(NamedTuple):
    """The changes of a step, the monitors before it, and the monitors before the previous step (``None``: unknown)."""

    log: list[StateChange]
    runtime: Runtime | None
    earlier_runtime: Runtime | None


class Execution:
    """A state of an execution with its monitors. :meth:`after` makes a new execution; :meth:`take` changes this one.

    ``runtime`` has the monitors; it is ``None`` if no rule is watched. ``criteria`` selects the decisive violations.
    ``history`` has the steps that can be undone. Copies share unchanged data. Durative actions are not executed: their
    starts and ends need a clock. Raises :class:`~plansafe.verifier.execution.one_world.NeedsOneWorld` for an open task.
    """

    __slots__ = (
        "_indexes",
        "_key_parts",
        "_runtime_before",
        "_unshared",
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
        self.state = engine.make_initial_state() if state is None else state
        self.runtime = runtime
        self.letter = letter
        self.criteria = criteria
        self.history: list[_UndoRecord] = []
        """The steps that can be undone."""
        self._runtime_before: Runtime | None = None
        """The monitors before the last step."""
        self._indexes: FactIndexes | None = None if runtime is None else runtime.indexes
        self._unshared: set[int] | None = None
        """The symbols whose sets no copy shares; ``None``: no copy shares any."""
        self._key_parts: dict[int, KeyPart] = {}
        """By symbol that has not changed since the last key, its part of the key."""

    @classmethod
    def initial(cls, engine: Engine, rules: bool = True, criteria: VerdictCriteria = EVERY_VIOLATION) -> Execution:
        """The execution at S0, with new monitors."""
        execution = cls(engine, criteria=criteria)
        if rules:
            execution.runtime = engine.start_monitors(False, execution.state)
            if execution.runtime is not None:
                execution._indexes = execution.runtime.indexes
        return execution

    # -- copies -------------------------------------------------------------------------------------------------------

    def fork(self) -> Execution:
        """An independent copy that shares unchanged data, made in a few microseconds. It cannot undo earlier steps."""
        copy = Execution.__new__(Execution)
        copy.engine, copy.task, copy.letter, copy.criteria = self.engine, self.task, self.letter, self.criteria
        copy.state = self.state.shared_copy()
        copy._unshared, self._unshared = set(), set()  # noqa: SLF001 - of its own class
        copy._key_parts = dict(self._key_parts)  # noqa: SLF001 - of its own class
        copy.runtime, copy._runtime_before = self.runtime, self._runtime_before  # noqa: SLF001 - of its own class
        copy._indexes = self._indexes  # noqa: SLF001 - of its own class
        if self.runtime is None and self._indexes is not None:
            copy._indexes = self._indexes.fork()  # noqa: SLF001 - of its own class
        copy.history = []
        return copy

    def without_rules(self) -> Execution:
        """A copy that watches no rule, so that its steps take a fraction of the time."""
        copy = self.fork()
        if copy.runtime is not None:
            copy.runtime = copy._runtime_before = copy._indexes = None  # noqa: SLF001 - of its own class
        return copy

    def after(self, step: GroundAction) -> Execution | None:
        """The execution one step later, or ``None`` if the step cannot be taken.

        Linear in the changes of the step and the bindings that they trigger. Rules may be violated afterwards: see
        :attr:`broken`. Raises :class:`NumberTooLarge` and :class:`TooManyInstances`.
        """
        execution = self.fork()
        return execution if execution.take(step) else None

    def _unshare(self, changing_symbols: Iterable[int]) -> None:
        """Copy the sets of symbols that will change, if a copy of this execution shares them."""
        if self._unshared is not None:
            self.state.unshare(changing_symbols, self._unshared)

    def _discard_key_parts(self, log: Iterable[StateChange]) -> None:
        if self._key_parts:
            for symbol_index, _, _ in log:
                self._key_parts.pop(symbol_index, None)

    # -- steps --------------------------------------------------------------------------------------------------------

    def take(self, step: GroundAction) -> bool:
        """Take a step in place; ``False`` (without a change) if it cannot be taken.

        Raises :class:`NumberTooLarge`, and without a change :class:`TooManyInstances` and :class:`LimitReached`.
        """
        engine, runtime, state = self.engine, self.runtime, self.state
        next_runtime = None if runtime is None else runtime.fork()
        if next_runtime is not None:
            engine.announce_step(next_runtime, state, step, LetterTime(self.letter, self.letter, False))
        log: list[StateChange] = []
        if not self._change_state(step, log):
            return False
        self.history.append(_UndoRecord(log, runtime, self._runtime_before))
        if next_runtime is not None:
            self._runtime_before, self.runtime, self._indexes = runtime, next_runtime, next_runtime.indexes
            try:
                next_runtime.enter_state(state, log, LetterTime(self.letter, self.letter, False))
            except (LimitReached, TooManyInstances):
                self.undo()
                raise
        elif self._indexes is not None:
            self._indexes.follow(log)
        return True

    def follow(self, steps: Iterable[GroundAction]) -> bool:
        """Take steps in place; ``False`` if a step cannot be taken.

        The monitors are copied once, not at each step. This is much faster than :meth:`take`, but the steps cannot be
        undone and :attr:`new_violations` does not describe them. Raises the exceptions of :meth:`take`. After an
        exception or ``False``, the execution must not be used.
        """
        state = self.state
        self.history.clear()
        runtime = None if self.runtime is None else self.runtime.fork()
        for step in steps:
            if runtime is not None:
                self.engine.announce_step(runtime, state, step, LetterTime(self.letter, self.letter, False))
            log: list[StateChange] = []
            if not self._change_state(step, log):
                return False
            if runtime is not None:
                runtime.enter_state(state, log, LetterTime(self.letter, self.letter, False))
            elif self._indexes is not None:
                self._indexes.follow(log)
        if runtime is not None:
            self._runtime_before, self.runtime, self._indexes = None, runtime, runtime.indexes
        return True

    def _change_state(self, step: GroundAction, log: list[StateChange]) -> bool:
        """Change the state without the monitors, and log the changes; ``False`` if the step cannot be taken."""
        engine, state = self.engine, self.state
        self._unshare(engine.find_changed_symbols(step.action))
        run = engine.full_code.compile_step(step.action)
        try:
            if not run(state.facts, state.fluents, log, *step.objects):
                return False
        except (KeyError, ZeroDivisionError, Conflict):
            if not self._take_interpreted(step, log):
                return False
        if engine.axioms is not None:
            engine.axioms.update(state.facts, state.fluents, log)
        self._discard_key_parts(log)
        self.letter += 1
        return True

    @property
    def changed(self) -> list[StateChange]:
        """The changes of the last step that can be undone; empty if there is none."""
        return self.history[-1].log if self.history else []

    def _take_interpreted(self, step: GroundAction, log: list[StateChange]) -> bool:
        """Take a step by interpretation, because its compiled code raised an exception."""
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
        """Forget what the changes of an observation make invalid: the history and parts of the key; update indexes."""
        self.history.clear()
        self._discard_key_parts(log)
        if self._indexes is not None and self.runtime is None:
            self._indexes.follow(log)

    def undo(self) -> None:
        """Undo the last step. Raises ``IndexError`` at the start."""
        log, runtime, earlier_runtime = self.history.pop()
        self.letter -= 1
        self._unshare([symbol_index for symbol_index, _, _ in log])
        self._discard_key_parts(log)
        if runtime is not None:
            self.runtime, self._runtime_before, self._indexes = runtime, earlier_runtime, runtime.indexes
        elif self._indexes is not None:
            self._indexes.follow([(symbol_index, code, not value) for symbol_index, code, value in reversed(log)])
        self.state.undo(list(log))

    def mark(self) -> int:
        """The position in the history to which :meth:`rollback` returns: the number of steps that can be undone."""
        return len(self.history)

    def rollback(self, mark: int) -> None:
        """Undo every step since :meth:`mark` returned ``mark``."""
        while len(self.history) > mark:
            self.undo()

    # -- legal steps --------------------------------------------------------------------------------------------------

    def legal(self, *names: str) -> Iterator[GroundAction]:
        """All legal steps of the present state (only of the named actions, if any are named), each once."""
        legal = self.engine.legal_actions
        searches = legal.get_searches(names)
        return legal.find(self.state, self._make_indexes(legal.index_keys), searches)

    def _make_indexes(self, keys: set[IndexKey]) -> FactIndexes:
        """Return the indexes of the present state, which include those for ``keys``."""
        if self._indexes is None:
            self._indexes = FactIndexes(self.engine.emitter, keys)
            self._indexes.build(self.state.facts)
        self._indexes.cover(keys, self.state.facts)
        return self._indexes

    def options(self, *names: str) -> list[StepOption]:
        """All legal steps of the present state, each with the instances of rules that it would break.

        These are the :attr:`new_violations` after each step if every violation counts, without preferences.
        """
        options: list[StepOption] = []
        for step in list(self.legal(*names)):
            next_execution = None if self.runtime is None else self.after(step)
            if self.runtime is None or next_execution is None or next_execution.runtime is None:
                options.append(StepOption(step))
            else:
                options.append(StepOption(step, find_new_violations(self.runtime, next_execution.runtime)))
        return options

    # -- verdicts -----------------------------------------------------------------------------------------------------

    @property
    def new_violations(self) -> tuple[BrokenInstance, ...]:
        """The instances that the last step broke: they are decisive, or undecided, only since this step."""
        if self.runtime is None or self._runtime_before is None:
            return ()
        return find_new_violations(self._runtime_before, self.runtime, self.criteria)

    @property
    def lasting_violations(self) -> tuple[BrokenInstance, ...]:
        """The instances that S0 and the steps broke: violated or undecided whatever steps follow."""
        return () if self.runtime is None else find_lasting_violations(self.runtime, self.criteria)

    @property
    def broken(self) -> bool:
        """Whether a decisive violation is present whatever steps follow."""
        return self.runtime is not None and has_lasting_violation(self.runtime, self.criteria)

    @property
    def undecided(self) -> bool:
        """Whether a rule that is severe enough has read an undefined number, so that the verdict cannot be SAFE."""
        runtime = self.runtime
        if runtime is None:
            return False
        ignored_parts = runtime.rule_set.find_parts_below_severity(self.criteria)
        monitors = [m for m in runtime.monitors if not (isinstance(m, InvariantMonitor) and m.final)]
        checks = [check for checks in runtime.checks.values() for check in checks]
        return any([bool(m.undecided) and m.part not in ignored_parts for m in [*monitors, *checks]])

    @property
    def accepted(self) -> bool:
        """Whether the execution may end here: the goal is reached, and there are no :attr:`violations_at_end`."""
        return self.engine.evaluate_goal(self.state) is True and not self.violations_at_end

    @property
    def violations_at_end(self) -> tuple[BrokenInstance, ...]:
        """The instances that would be decisively violated, or undecided, if the execution ended here."""
        finished_runtime = self.finish_runtime()
        if finished_runtime is None:
            return ()
        violated = {BrokenInstance(v.part, v.binding) for v in self._list_decisive_violations(finished_runtime)}
        return select_decisive(
            finished_runtime, {*violated, *find_undecided_instances(finished_runtime)}, self.criteria
        )

    def find_first_violated_step(self, *, include_end: bool = True) -> int | None:
        """The first step with a decisive violation if the execution ended here; ``None`` if there is none.

        Without ``include_end``, violations that only the end causes are left out.
        """
        finished_runtime = self.finish_runtime()
        violations = [] if finished_runtime is None else self._list_decisive_violations(finished_runtime)
        return min([v.step for v in violations if include_end or not v.at_end], default=None)

    def finish_runtime(self) -> Runtime | None:
        """The monitors as if the execution ended here; ``None`` without rules. Raises :class:`TooManyInstances`."""
        if self.runtime is None:
            return None
        finished_runtime = self.runtime.fork()
        finished_runtime.finish(self.state, LetterTime(self.letter, self.letter, False))
        return finished_runtime

    def _list_decisive_violations(self, finished: Runtime) -> list[Violation]:
        return [v for v in finished.collect_violations() if self.engine.is_decisive(v, self.criteria)]

    # -- keys ---------------------------------------------------------------------------------------------------------

    def state_key(self) -> StateKey:
        """A hashable copy of the facts and numbers of the state that may change, except derived facts."""
        parts, state = self._key_parts, self.state
        predicate_count = len(state.facts)
        for symbol_index in self.engine.changeable_symbols:
            if symbol_index not in parts:
                parts[symbol_index] = (
                    frozenset(state.facts[symbol_index])
                    if symbol_index < predicate_count
                    else frozenset(state.fluents[symbol_index - predicate_count].items())
                )
        return tuple([parts[symbol_index] for symbol_index in self.engine.changeable_symbols])

    def key(self) -> tuple[StateKey, MonitorKey]:
        """A key that is equal for executions with equal futures."""
        return self.state_key(), make_monitor_key(self.runtime, self.letter, self.criteria)
