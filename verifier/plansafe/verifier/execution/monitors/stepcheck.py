"""Parts about one step: a condition in the state before a matching step, or in the state after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.compile.triggers import compile_addition_triggers
from plansafe.verifier.execution.monitors.condition_evaluator import ConditionEvaluator
from plansafe.verifier.execution.monitors.finding import Binding, Violation
from plansafe.verifier.execution.monitors.index import FactIndexes
from plansafe.verifier.execution.monitors.trace_operators import LetterTime
from plansafe.verifier.execution.state import State, shallow_copy
from plansafe.verifier.model.nodes import TRUE, And, Formula, Not, Variable
from plansafe.verifier.rules.model import find_action_predicate

LatchReader = Callable[[int, Binding], bool | None]
"""Gives the truth of a latch (by number) under a binding at the letter read last; ``None`` if it cannot be decided.

A latch stores the value of a past formula from letter to letter (:mod:`.latch`).
"""


class StepCheck:
    """``body`` must hold whenever ``step`` matches and ``guard`` holds: at that letter, or at the next (``after``)."""

    needs_latches = False
    """Whether the check reads latches, which must read the letter first."""

    def __init__(
        self,
        part: int,
        emitter: Emitter,
        parameters: tuple[Variable, ...],
        step: Formula,
        guard: Formula | None,
        body: Formula,
        *,
        after: bool,
    ) -> None:
        self.part = part
        self.task = emitter.task
        self.predicate = find_action_predicate(step)
        self.after = after
        guard = TRUE if guard is None else guard
        violation_condition = And((step, guard)) if after else And((step, guard, Not(body)))
        self._triggers = compile_addition_triggers(emitter, violation_condition, parameters, self.predicate)
        self._guard = ConditionEvaluator(emitter, guard, parameters)
        self.holds = ConditionEvaluator(emitter, body, parameters)
        self._due_bindings: list[Binding] = []
        """The bindings that wait for the state after the step, or for the latches."""
        self.undecided: set[Binding] = set()
        self.violations: list[Violation] = []

    def may_match(self, code: int) -> bool:
        """Whether an action fact matches some binding in some state."""
        return any([trigger.matches(code) for trigger in self._triggers])

    def find_matching_bindings(self, state: State, indexes: FactIndexes, code: int) -> list[Binding]:
        """Return the bindings that may match the next step, whose action fact is in the state."""
        bindings: list[Binding] = []
        for trigger in self._triggers:
            trigger.find(state.facts, state.fluents, indexes, code, bindings)
        return bindings

    def check_step(self, state: State, bindings: Iterable[Binding], letter_time: LetterTime) -> None:
        """Evaluate the guard for bindings that match the next step, and the body at once unless it must wait."""
        for binding in dict.fromkeys(bindings):
            guard = self._guard(state, binding)
            if guard is None:
                self.undecided.add(binding)
            elif guard and (self.after or self.needs_latches):
                self._due_bindings.append(binding)
            elif guard:
                self._check_binding(state, binding, letter_time.letter + 1, letter_time.letter)

    def check_after_step(self, state: State, letter_time: LetterTime) -> None:
        """Evaluate the bindings that wait for the state after the step."""
        if self._due_bindings:
            for binding in self._due_bindings:
                self._check_binding(state, binding, letter_time.letter, letter_time.letter)
            self._due_bindings.clear()

    def _check_binding(self, state: State, binding: Binding, step: int, letter: int) -> None:
        self._record_value(self.holds(state, binding), binding, step, letter)

    def _record_value(self, value: bool | None, binding: Binding, step: int, letter: int) -> None:
        if value is False:
            self.violations.append(Violation(self.part, binding, step, letter, False, "introduced"))
        elif value is None:
            self.undecided.add(binding)

    def fork(self) -> StepCheck:
        """Return an independent copy."""
        copy = shallow_copy(self)
        copy._due_bindings = list(self._due_bindings)  # noqa: SLF001 - of its own class
        copy.undecided = set(self.undecided)
        copy.violations = list(self.violations)
        return copy
