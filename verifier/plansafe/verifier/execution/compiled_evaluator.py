"""Evaluation of conditions with generated code for quantifiers, where the parts that decide a value are asked for."""

from __future__ import annotations

from collections.abc import Callable

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.state import State
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import Binding, Formula, Quantified

CompiledQuantifiers = dict[int, tuple[Formula, list[int], Callable[..., bool]]]
"""By identity, quantifiers with their free slots and code."""


class CompiledEvaluator(Evaluator):
    """Evaluates conditions of an engine in a state. Evaluators of several states may share ``compiled``."""

    def __init__(self, engine: Engine, state: State, compiled: CompiledQuantifiers) -> None:
        super().__init__(engine.task, state.facts, state.fluents)
        self._emitter = engine.emitter
        self._compiled = compiled

    def holds(self, formula: Formula, binding: Binding) -> bool | None:
        """True, false, or ``None`` for undefined."""
        if isinstance(formula, Quantified):
            compiled = self._compiled.get(id(formula))
            if compiled is None:
                slots = sorted(self._emitter.free_slots(formula))
                compiled = formula, slots, self._emitter.compile_condition(formula, slots)
                self._compiled[id(formula)] = compiled
            try:
                return compiled[2](self.facts, self.fluents, *[binding[slot] for slot in compiled[1]])
            except (KeyError, ZeroDivisionError):
                pass
        return super().holds(formula, binding)
