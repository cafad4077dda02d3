"""Evaluate the leaves of an automaton's formula as bits, and find the bindings that differ from the default.

Leaf number i is bit i. A leaf that reads no parameter has the same value for all bindings, and is *global*; the others
are *local*.
"""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.compile.triggers import binds_all_parameters, compile_extension, compile_read_patterns
from plansafe.verifier.execution.monitors.condition_evaluator import ConditionEvaluator, StateFunction
from plansafe.verifier.execution.monitors.finding import Binding
from plansafe.verifier.execution.state import State
from plansafe.verifier.model.nodes import And, Formula, Variable
from plansafe.verifier.model.operations import free_slots


class AutomatonLeaves:
    """Evaluates the leaves of a formula with ``parameters``.

    ``default_bits``: the values of the local leaves for most bindings. ``searches``: for each local leaf, the search
    for the bindings for which it does not have its default value.
    """

    def __init__(self, emitter: Emitter, leaves: Sequence[Formula], parameters: tuple[Variable, ...]) -> None:
        slots = {v.slot for v in parameters}
        self._global_numbers = [i for i, leaf in enumerate(leaves) if not free_slots(leaf) & slots]
        self._local_numbers = [i for i, leaf in enumerate(leaves) if free_slots(leaf) & slots]
        self._evaluators = [
            ConditionEvaluator(emitter, leaf, parameters if i in self._local_numbers else ())
            for i, leaf in enumerate(leaves)
        ]
        local_formulas = [(number, leaves[number]) for number in self._local_numbers]
        global_formulas = [(number, leaves[number]) for number in self._global_numbers]
        self._compute_local_bits = StateFunction(
            emitter,
            [leaf for _, leaf in local_formulas],
            lambda: emitter.compile_bits(local_formulas, [v.slot for v in parameters]),
        )
        self._compute_global_bits = StateFunction(
            emitter, [leaf for _, leaf in global_formulas], lambda: emitter.compile_bits(global_formulas, [])
        )
        self.default_bits = 0
        self.searches = []
        for number in self._local_numbers:
            leaf = leaves[number]
            can_find_true, can_find_false = [binds_all_parameters(leaf, value, parameters) for value in (True, False)]
            # Most bindings have the default. The bindings with the other value must be found from facts, so the default
            # is true if only the bindings with false can be found.
            default_value = not can_find_true and can_find_false
            self.default_bits |= default_value << number
            self.searches.append(compile_extension(emitter, leaf, not default_value, parameters))
        local_leaves, global_leaves = [
            And(tuple([leaves[i] for i in numbers])) for numbers in (self._local_numbers, self._global_numbers)
        ]
        self.local_patterns = compile_read_patterns(emitter, local_leaves, parameters)
        """The facts that the local leaves read."""
        self.global_patterns = compile_read_patterns(emitter, global_leaves, ())
        """The facts that the global leaves read."""

    def evaluate_global(self, state: State) -> int | None:
        """Return the bits of the leaves without parameters; ``None`` if one is undefined."""
        try:
            return self._compute_global_bits(state, ())
        except (KeyError, ZeroDivisionError):
            return self._interpret(state, self._global_numbers, ())

    def evaluate_local(self, state: State, binding: Binding) -> int | None:
        """Return the bits of the leaves with parameters, for a binding; ``None`` if one is undefined."""
        try:
            return self._compute_local_bits(state, binding)
        except (KeyError, ZeroDivisionError):
            return self._interpret(state, self._local_numbers, binding)

    def _interpret(self, state: State, numbers: list[int], binding: Binding) -> int | None:
        """Return the bits of leaves that are evaluated one by one, because an undefined number may not matter."""
        bits = 0
        for number in numbers:
            value = self._evaluators[number](state, binding)
            if value is None:
                return None
            bits |= value << number
        return bits
