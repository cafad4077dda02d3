"""An evaluator for explanations of conditions, which evaluates quantifiers by generated code."""

from __future__ import annotations

from collections.abc import Callable

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.state import State
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import Binding, Formula, Quantified


class CompiledQuantifier(NamedTuple):
    """A quantified formula, the slots of its free variables, and its code with a parameter for each of them."""

    formula: Formula
    slots: list[int]
    holds: Callable[..., bool]


class CompiledEvaluator(Evaluator):
    """Evaluates conditions in a state. Evaluators of an engine share ``compiled``, quantifiers by identity."""

    def __init__(self, engine: Engine, state: State, compiled: dict[int, CompiledQuantifier]) -> None:
        super().__init__(engine.task, state.facts, state.fluents)
        self._emitter = engine.emitter
        self._compiled = compiled

    def holds(self, formula: Formula, binding: Binding) -> bool | None:
        """Return whether a formula holds; ``None`` if it is undefined."""
        if isinstance(formula, Quantified):
            compiled = self._compiled.get(id(formula))
            if compiled is None:
                slots = sorted(self._emitter.free_slots(formula))
                code = self._emitter.compile_condition(formula, slots)
                compiled = self._compiled[id(formula)] = CompiledQuantifier(formula, slots, code)
            try:
                return compiled.holds(self.facts, self.fluents, *[binding[slot] for slot in compiled.slots])
            except (KeyError, ZeroDivisionError):
                pass  # the undefined number may not matter
        return super().holds(formula, binding)
