"""Evaluate conditions and other functions of a state under a binding, by generated code where that is possible."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.execution.monitors.finding import Binding
from plansafe.verifier.execution.state import State
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import Formula, Quantified, Variable
from plansafe.verifier.model.operations import subformulas

T = TypeVar("T")


class StateFunction(Generic[T]):
    """A function of a state and objects in generated code, which is compiled at its first use: many are never used.

    ``compile_code`` compiles it. If ``formulas`` have quantifiers, the code uses the indexes of a state that has them.
    """

    def __init__(
        self, emitter: Emitter, formulas: Iterable[Formula], compile_code: Callable[[], Callable[..., T]]
    ) -> None:
        self._emitter = emitter
        self._formulas = formulas
        self._compile_code = compile_code
        self._compiled: Callable[..., T] | None = None
        self._indexed: Callable[..., T] | None = None
        self._has_quantifiers = any([isinstance(part, Quantified) for f in formulas for part in subformulas(f)])

    def __call__(self, state: State, objects: Binding) -> T:
        """Return the value in a state; raises ``KeyError`` or ``ZeroDivisionError`` if it is undefined."""
        if self._has_quantifiers and state.indexes is not None:
            indexed = self._indexed
            if indexed is None:
                with self._emitter.set_for_monitors():
                    indexed = self._indexed = self._compile_code()
            return indexed(state.facts, state.fluents, state.indexes, *objects)
        compiled = self._compiled
        if compiled is None:
            with self._emitter.set_for_monitors(False):
                compiled = self._compiled = self._compile_code()
        return compiled(state.facts, state.fluents, *objects)


class ConditionEvaluator:
    """Evaluates a condition under a binding in three values: by generated code, or interpreted if that fails.

    Generated code fails where a number is undefined.
    """

    def __init__(self, emitter: Emitter, formula: Formula, parameters: tuple[Variable, ...]) -> None:
        self.formula = formula
        self.slots = [v.slot for v in parameters]
        self.task = emitter.task
        self._evaluate = StateFunction(emitter, [formula], lambda: emitter.compile_condition(formula, self.slots))

    def __call__(self, state: State, binding: Binding) -> bool | None:
        """Return the truth value in a state; ``None`` if it is undefined."""
        try:
            return self._evaluate(state, binding)
        except (KeyError, ZeroDivisionError):
            evaluator = Evaluator(self.task, state.facts, state.fluents)
            return evaluator.holds(self.formula, dict(zip(self.slots, binding, strict=True)))
