"""A plan to be repaired: what its steps may do to facts, and what the rules read."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple, assert_never

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.invariant import InvariantMonitor
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.memoized import memoized
from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Binding,
    Equal,
    Formula,
    Not,
    Operator,
    Or,
    Quantified,
    Temporal,
    Truth,
)
from plansafe.verifier.model.operations import is_stutter_sensitive, mentions, signed_subformulas, subformulas
from plansafe.verifier.repair.demands import Demand, DemandFinder
from plansafe.verifier.repair.effect_index import EffectIndex
from plansafe.verifier.repair.ground_effects import GroundEffects, ObjectPattern
from plansafe.verifier.repair.model import Weights
from plansafe.verifier.rules.model import RulePart
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria


class Role(NamedTuple):
    """Whether an action may meet a demand, and whether it may do the opposite."""

    achieves: bool
    hinders: bool


class ScopeKind(IntEnum):
    """What a part of a rule reads, which decides which edits can repair a violation; the most specific kind first."""

    STATE = 0
    """Single states."""
    TRACE = 1
    """The trace without repetitions of a state."""
    DEADLINE = 2
    """The number of steps up to a deadline."""
    STEP_COUNT = 3
    """Numbers of steps in any way."""


class RuleScope(NamedTuple):
    """What a part of a rule reads; for deadlines, how many letters back."""

    kind: ScopeKind
    letters: int = 0


class RepairTask:
    """A plan (``steps``) to be repaired, the weights of edits, the protected steps, and what decides a verdict."""

    def __init__(
        self,
        engine: Engine,
        steps: Sequence[GroundAction | IllFormed],
        weights: Weights,
        protected: frozenset[int],
        criteria: VerdictCriteria = EVERY_VIOLATION,
        effect_index: EffectIndex | None = None,
    ) -> None:
        self.engine = engine
        self.criteria = criteria
        self.steps = list(steps)
        self.length = len(self.steps)
        self.weights = weights
        self.protected = protected
        self.min_weight = min(weights.of_steps)
        self.substitution_surcharge = min(self.min_weight, max(0, weights.substitute - weights.delete))
        """What a substitution costs at least in addition to a deletion."""
        self.effect_index = EffectIndex(engine) if effect_index is None else effect_index
        self.demand_finder = DemandFinder(engine)
        self.step_effects: list[GroundEffects | None] = [
            self.effect_index.get_effects(step) if isinstance(step, GroundAction) else None for step in self.steps
        ]
        self.action_predicates = frozenset(engine.action_predicates.values())
        self.scopes = [find_rule_scope(part, self.action_predicates) for part in engine.rule_set.parts]
        self.predicate_count = len(engine.task.predicates)
        initial = engine.make_initial_state()
        self._initial = Evaluator(engine.task, initial.facts, initial.fluents)

    @memoized
    def get_pattern(self, demand: Demand) -> ObjectPattern:
        """The objects of the facts that a demand is about."""
        return demand.make_pattern(self.engine.task)

    def find_achievers(self, demand: Demand) -> tuple[GroundAction, ...]:
        """The ground actions that may meet a demand."""
        return self.effect_index.find_achievers(demand.subject, self.get_pattern(demand), demand.value)

    @memoized
    def find_achieving_steps(self, demand: Demand) -> list[int]:
        """The numbers of the original steps that may meet a demand."""
        return [
            number
            for number, effects in enumerate(self.step_effects, 1)
            if effects is not None and self.may_meet(effects, demand)
        ]

    def may_stay_violated(self, part: int, binding: Binding) -> bool:
        """Whether a rule instance may stay as it is, because it was violated (or triggered) before the plan.

        Then a repair may have to leave the facts alone that the instance reads, instead of changing them.
        """
        if not self.criteria.ignores_preexisting:
            return False
        rule_part = self.engine.rule_set.parts[part]
        body = rule_part.body
        if self.scopes[part].kind is ScopeKind.STATE and rule_part.mode in ("always", "end"):
            slots = {v.slot for v in rule_part.parameters}
            if not mentions(body, self.action_predicates) and slots <= binding.keys():
                return self._initial.holds(body, binding) is not True
            return True
        return part in self._parts_tracking_initial

    @cached_property
    def _parts_tracking_initial(self) -> frozenset[int]:
        """The parts of rules that distinguish instances that were violated at letter 0."""
        runtime = Execution.initial(self.engine, criteria=self.criteria).runtime
        monitors = () if runtime is None else runtime.monitors
        return frozenset(
            [
                monitor.part
                for monitor in monitors
                if (isinstance(monitor, Automaton) and monitor.violation_log.tracks_initial)
                or (isinstance(monitor, InvariantMonitor) and monitor.episodes)
            ]
        )

    def may_change(self, effects: GroundEffects, demand: Demand) -> bool:
        """Whether an action may change a fact that a demand is about."""
        return effects.may_change(demand.subject, self.get_pattern(demand))

    def may_meet(self, effects: GroundEffects, demand: Demand) -> bool:
        """Whether an action may meet a demand."""
        return self.find_role(effects, demand).achieves

    def find_role(self, effects: GroundEffects, demand: Demand) -> Role:
        """Whether an action may meet a demand or do the opposite."""
        subject, value, pattern = demand.subject, demand.value, self.get_pattern(demand)
        if value is None or subject >= self.predicate_count:
            changes = effects.may_change(subject, pattern)
            return Role(changes, changes)
        if effects.matches_action_fact(subject, pattern):
            return Role(value, not value)
        values = effects.find_certain_values(subject, pattern) | effects.find_possible_values(subject, pattern)
        return Role(value in values, (not value) in values)


_DEADLINE_OPERATORS = frozenset(("within", "always-within"))
"""Operators that further steps can only make false."""


def find_rule_scope(part: RulePart, action_predicates: frozenset[int]) -> RuleScope:
    """Find what a part of a rule reads."""
    operators = [f for g in (part.body, part.guard) if g is not None for f in subformulas(g) if isinstance(f, Temporal)]
    if any([is_stutter_sensitive(f.operator) and f.operator not in _DEADLINE_OPERATORS for f in operators]):
        return RuleScope(ScopeKind.STEP_COUNT)  # any inserted or removed step may change its verdict
    if mentions(part.body, action_predicates):
        signs = _find_step_signs(part.body, action_predicates)
        counts_steps = part.after or (part.mode == "whole" and signs) or (part.mode == "always" and True in signs)
        if counts_steps or not all([_ignores_other_steps(operator, action_predicates) for operator in operators]):
            return RuleScope(ScopeKind.STEP_COUNT)
    bounds = [operator.bounds[0] for operator in operators if operator.operator in _DEADLINE_OPERATORS]
    if bounds:
        return RuleScope(ScopeKind.DEADLINE, int(max(bounds)) + 3)
    return RuleScope(ScopeKind.TRACE if operators or part.mode == "whole" else ScopeKind.STATE)


def _find_step_signs(formula: Formula, action_predicates: frozenset[int]) -> set[bool]:
    """The signs with which a formula reads the step of the present letter, outside temporal operators."""
    return {
        sign
        for part, sign in signed_subformulas(formula, True)
        if isinstance(part, Atom) and part.predicate in action_predicates
    }


def _find_allowed_signs(operator: Operator) -> tuple[bool, ...]:
    """For each operand, whether it may mention a step positively (``True``) or negatively (``False``).

    With these signs, a letter without such a step changes nothing: ``always`` may mention it only negatively, as in
    ``(always (not (action-go ?r)))``. Empty: no operand may mention a step.
    """
    match operator:
        case "always" | "historically":
            return (False,)
        case "sometime" | "once" | "within":
            return (True,)
        case "until" | "since":
            return False, True
        case "release":
            return True, False
        case "sometime-before" | "sometime-after" | "always-within":
            return True, True
        case "at-end" | "at-most-once" | "next" | "weak-next" | "yesterday" | "weak-yesterday":
            return ()
        case "hold-during" | "hold-after":
            return ()
        case _:
            assert_never(operator)


def _ignores_other_steps(formula: Temporal, action_predicates: frozenset[int]) -> bool:
    """Whether additional letters, with steps that the formula does not read, do not change its value."""
    signs = _find_allowed_signs(formula.operator)
    signs_by_operand = [_find_step_signs(operand, action_predicates) for operand in formula.operands]
    if not signs:
        return formula.operator == "at-end" or not any(signs_by_operand)
    if not all([read <= {sign} for read, sign in zip(signs_by_operand, signs, strict=True)]):
        return False
    # If the second operand (of sometime-before the first) mentions a step, the formula reads the other operand at each
    # additional letter: it must not depend on the state there.
    if formula.operator in ("until", "since", "release", "sometime-before"):
        state_operand, step_operand = (1, 0) if formula.operator == "sometime-before" else (0, 1)
        return not signs_by_operand[step_operand] or all(
            [
                isinstance(part, Truth | Equal | Not | And | Or | Quantified)
                or (isinstance(part, Atom) and part.predicate in action_predicates)
                for part in subformulas(formula.operands[state_operand])
            ]
        )
    return True
