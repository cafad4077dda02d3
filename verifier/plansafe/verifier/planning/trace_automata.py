"""Explicit automata of formulas over the trace, for planners, which have no monitors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from plansafe.verifier.execution.monitors import progression
from plansafe.verifier.execution.monitors.progression import Progression
from plansafe.verifier.execution.monitors.temporal_grounding import make_structural_key
from plansafe.verifier.execution.monitors.trace_operators import (
    NO_COMPARISONS,
    PERMANENTLY_SATISFIED,
    PERMANENTLY_VIOLATED,
    PRESENTLY_SATISFIED,
    PRESENTLY_VIOLATED,
    BoundComparisons,
    Component,
    ComponentState,
    LetterTime,
    advance_component,
    find_component_verdict,
    find_start_state,
)
from plansafe.verifier.model.nodes import TRUE, And, Formula, Not, Quantified, Task, Temporal
from plansafe.verifier.model.operations import is_stutter_sensitive, subformulas, substitute, trace_operator
from plansafe.verifier.rules.rule_conjuncts import is_past_only

MAX_LEAVES = 10
"""Subformulas of a formula over the trace that its automaton reads."""
MAX_STATES = 400
"""States of an automaton."""
MAX_TICKS = 1000
"""The largest bound of an operator, in steps."""
MAX_EXPANSION = 20_000
"""Formula nodes that are visited while quantifiers are expanded."""


class CannotCompile(Exception):
    """A rule or task without a compiled form of acceptable size; the text says which and why."""


Cube = tuple[tuple[int, bool], ...]
"""Values of some of the leaves, by their numbers."""


class Transition(NamedTuple):
    """A transition that is made in one phase of the clock, if the leaves have the values of ``cube``."""

    state: ComponentState
    phase: Formula
    cube: Cube
    target: ComponentState


class TraceAutomaton:
    """An automaton over letters of leaf values; :meth:`compute_transitions` sets its reachable ``states``."""

    name: str
    start: ComponentState
    counts_steps: bool
    leaves: list[Formula]

    def __init__(self) -> None:
        self.states: list[ComponentState] = []

    def find_verdict(self, state: ComponentState) -> int:
        """Return the verdict on a trace that ends in a state."""
        raise NotImplementedError

    def find_successor(self, state: ComponentState, phase: int, letter: int) -> ComponentState:
        """Return the state after a letter in one phase of the clock."""
        raise NotImplementedError

    def list_phases(self) -> list[Formula]:
        """Return the phases of the clock as conditions, in order; the last phase lasts until the end."""
        return [TRUE]

    def compute_transitions(self) -> list[Transition]:
        """Compute the transitions and the reachable ``states``. Raises :class:`CannotCompile` if there are too many."""
        if len(self.leaves) > MAX_LEAVES:
            raise CannotCompile(f"a formula over the trace with more than {MAX_LEAVES} parts")
        phases = self.list_phases()
        transitions: list[Transition] = []
        queue: list[tuple[ComponentState, int]] = [(self.start, 0)]
        reached_states = {(self.start, 0)}
        self.states = [self.start]
        for state, phase in queue:
            for cube, target in self._list_cubes(partial(self.find_successor, state, phase)):
                transitions.append(Transition(state, phases[phase], cube, target))
                if target not in self.states:
                    self.states.append(target)
                if len(self.states) > MAX_STATES:
                    raise CannotCompile(f"a formula over the trace with more than {MAX_STATES} states")
                for next_phase in {phase, min(phase + 1, len(phases) - 1)}:
                    if (target, next_phase) not in reached_states:
                        reached_states.add((target, next_phase))
                        queue.append((target, next_phase))
        return transitions

    def _list_cubes(self, find_successor: Callable[[int], ComponentState]) -> list[tuple[Cube, ComponentState]]:
        """List the paths of the decision tree of a function of letters, each with the function's value."""
        successors = [find_successor(letter) for letter in range(1 << len(self.leaves))]

        def list_paths(leaf: int, letters: list[int]) -> list[tuple[Cube, ComponentState]]:
            first = successors[letters[0]]
            if all([successors[letter] == first for letter in letters]):
                return [((), first)]
            false_paths = list_paths(leaf + 1, [letter for letter in letters if not _read_leaf(letter, leaf)])
            true_paths = list_paths(leaf + 1, [letter for letter in letters if _read_leaf(letter, leaf)])
            if false_paths == true_paths:
                return false_paths
            return [(((leaf, False), *cube), target) for cube, target in false_paths] + [
                (((leaf, True), *cube), target) for cube, target in true_paths
            ]

        return list_paths(0, list(range(len(successors))))


def _read_leaf(letter: int, leaf: int) -> bool:
    """Return the value of a leaf in a letter, whose bits are the values of the leaves."""
    return bool(letter & (1 << leaf))


class LtlAutomaton(TraceAutomaton):
    """The automaton of a formula with future operators; a state is the formula for the rest of the trace."""

    name = "rest"

    def __init__(self, task: Task, formula: Formula, positive: bool) -> None:
        super().__init__()
        self.leaves = []
        self._leaf_numbers: dict[tuple[object, ...], int] = {}
        self._task = task
        self._nodes_left = MAX_EXPANSION
        self.progression = Progression()
        operators = [part.operator for part in subformulas(formula) if isinstance(part, Temporal)]
        self.counts_steps = any(map(is_stutter_sensitive, operators))
        self.start = self.progression.make_normal_form(
            formula, positive, self._find_leaf_number, self._ground_instances
        )

    def _find_leaf_number(self, formula: Formula) -> int | None:
        """Return the number of a past formula among the leaves, added if new; ``None`` for any other formula."""
        self._nodes_left -= 1
        if self._nodes_left < 0:
            raise CannotCompile("a quantifier over temporal formulas with too many instances")
        if not is_past_only(formula):
            return None
        key = make_structural_key(formula)
        if key not in self._leaf_numbers:
            self._leaf_numbers[key] = len(self.leaves)
            self.leaves.append(formula)
            if len(self.leaves) > MAX_LEAVES:
                raise CannotCompile(f"a formula over the trace with more than {MAX_LEAVES} parts")
        return self._leaf_numbers[key]

    def _ground_instances(self, formula: Quantified) -> Iterator[Formula]:
        return (substitute(formula.body, values) for values in self._task.bindings(formula.variables, {}))

    def find_successor(self, state: ComponentState, phase: int, letter: int) -> ComponentState:  # noqa: ARG002 - it has no clock
        """Return the formula for the rest of the trace after a letter."""
        assert isinstance(state, int)
        return self.progression.progress(state, letter)

    def find_verdict(self, state: ComponentState) -> int:
        """Return the verdict on a trace that ends in a state, and whether it is permanent."""
        assert isinstance(state, int)
        if state in (progression.TRUE, progression.FALSE):
            return PERMANENTLY_SATISFIED if state == progression.TRUE else PERMANENTLY_VIOLATED
        return PRESENTLY_SATISFIED if self.progression.accepts_empty(state) else PRESENTLY_VIOLATED


class OperatorAutomaton(TraceAutomaton):
    """The automaton of a PDDL3 operator over the whole trace, which monitors also run.

    ``make_letter_condition`` makes the condition that the letter being read is not after the letter with this number.
    """

    def __init__(self, formula: Temporal, positive: bool, make_letter_condition: Callable[[int], Formula]) -> None:
        super().__init__()
        self.positive = positive
        self._make_letter_condition = make_letter_condition
        self.name = operator = trace_operator(formula)
        self.leaves = list(formula.operands)
        self.counts_steps = is_stutter_sensitive(operator)
        self.start = find_start_state(operator)
        self.component = Component(operator, [], formula.bounds, self.start)
        self._comparisons_by_phase: list[BoundComparisons] = [NO_COMPARISONS]
        """The comparisons of the letters of each phase with the operator's bounds."""

    def list_phases(self) -> list[Formula]:
        """Return the intervals of letters in which all letters have the same relation to the operator's bounds."""
        if self.name not in ("within", "hold-during", "hold-after"):
            return [TRUE]
        low, high = self.component.bounds[0], self.component.bounds[-1]
        last = max(int(max(low, high)) + 1, 0)
        if last > MAX_TICKS:
            raise CannotCompile(f"a bound of more than {MAX_TICKS} steps")
        comparisons = [
            BoundComparisons(letter <= low, letter + 1 <= low, letter < high, letter + 1 < high)
            for letter in range(last + 1)
        ]
        starts = [number for number in range(last + 1) if number == 0 or comparisons[number] != comparisons[number - 1]]
        self._comparisons_by_phase = [comparisons[letter] for letter in starts]
        phases: list[Formula] = []
        for place, first in enumerate(starts):
            bounds: list[Formula] = []
            if place:
                bounds.append(Not(self._make_letter_condition(first - 1)))
            if place + 1 < len(starts):
                bounds.append(self._make_letter_condition(starts[place + 1] - 1))
            phases.append(And(tuple(bounds)))
        return phases

    def find_successor(self, state: ComponentState, phase: int, letter: int) -> ComponentState:
        """Return the monitor's next state. For ``always-within`` it is relative to the next letter."""
        values = [_read_leaf(letter, leaf) for leaf in range(len(self.leaves))]
        comparisons = self._comparisons_by_phase[phase]
        after = advance_component(self.component, state, values, comparisons, LetterTime(0, 0, False))
        if self.name == "always-within" and isinstance(after, int | Fraction):
            return after - 1  # the letter of the trigger, relative to the next letter
        return after

    def find_verdict(self, state: ComponentState) -> int:
        """Return the monitor's verdict, inverted for a negated operator."""
        verdict = find_component_verdict(self.component, state)
        return verdict if self.positive else PERMANENTLY_SATISFIED - verdict  # the verdicts are symmetric numbers
