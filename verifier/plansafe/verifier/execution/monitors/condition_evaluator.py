"""The truth of a condition under a binding of its parameters, by generated code where that is possible."""

from __future__ import annotations

from collections.abc import Callable

from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.execution.monitors.finding import Binding
from plansafe.verifier.execution.state import State
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import Formula, Variable


class ConditionEvaluator:
    """Evaluates a condition under a binding in three values: by generated code, or interpreted if that fails.

    Generated code fails where a number is undefined.
    """

    def __init__(self, emitter: Emitter, formula: Formula, parameters: tuple[Variable, ...]) -> None:
        self.formula = formula
        self.slots = [v.slot for v in parameters]
        self.task = emitter.task
        self._emitter = emitter
        self._compiled: Callable[..., bool] | None = None  # compiled at first use: many are never used

    def __call__(self, state: State, binding: Binding) -> bool | None:
        """Return the truth value in a state; ``None`` if it is undefined."""
        compiled = self._compiled
        if compiled is None:
            compiled = self._compiled = self._emitter.compile_condition(self.formula, self.slots)
        try:
            return compiled(state.facts, state.fluents, *binding)
        except (KeyError, ZeroDivisionError):
            evaluator = Evaluator(self.task, state.facts, state.fluents)
            return evaluator.holds(self.formula, dict(zip(self.slots, binding, strict=True)))
