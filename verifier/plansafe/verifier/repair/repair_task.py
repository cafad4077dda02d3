"""What is to be repaired, and what the steps of its plan may do."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, assert_never

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.evaluation import Evaluator
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
from plansafe.verifier.repair.effects import EffectIndex, GroundEffects, ObjectPattern
from plansafe.verifier.repair.model import Weights
from plansafe.verifier.rules.model import RulePart
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria


class RepairTask:
    """A plan (``steps``) that is to be repaired, what edits cost, which steps must stay, and what decides."""

    def __init__(
        self,
        engine: Engine,
        steps: Sequence[GroundAction | IllFormed],
        weights: Weights,
        protected: frozenset[int],
        criteria: VerdictCriteria = EVERY_VIOLATION,
    ) -> None:
        self.engine = engine
        self.criteria = criteria
        self.steps = list(steps)
        self.length = len(self.steps)
        self.weights = weights
        self.protected = protected
        self.lightest = min(weights)
        self.swap = min(self.lightest, max(0, weights.substitute - weights.delete))
        self.effects = EffectIndex(engine)
        self.demander = DemandFinder(engine)
        self.prints: list[GroundEffects | None] = [
            self.effects.of(step) if isinstance(step, GroundAction) else None for step in self.steps
        ]
        self.action_predicates = frozenset(engine.action_predicates.values())
        self.views = [view_of(part, self.action_predicates) for part in engine.rule_set.parts]
        self.base = len(engine.task.predicates)
        initial = engine.initial()
        self._initial = Evaluator(engine.task, initial.facts, initial.fluents)
        self._achieving: dict[Demand, list[int]] = {}
        self._wanted: dict[Demand, ObjectPattern] = {}

    def wanted(self, demand: Demand) -> ObjectPattern:
        """The objects of the facts that a demand is about."""
        found = self._wanted.get(demand)
        if found is None:
            found = self._wanted[demand] = demand.wanted(self.engine.task)
        return found

    def achievers(self, demand: Demand) -> tuple[GroundAction, ...]:
        """The ground actions that may meet a demand."""
        return self.effects.achievers(demand.subject, self.wanted(demand), demand.value)

    def plan_achievers(self, demand: Demand) -> list[int]:
        """The steps of the original plan that may meet a demand."""
        found = self._achieving.get(demand)
        if found is None:
            found = self._achieving[demand] = [
                number for number, own in enumerate(self.prints, 1) if own is not None and self.may_meet(own, demand)
            ]
        return found

    def may_stay(self, part: int, binding: Binding) -> bool:
        """Whether an instance of a rule may be left as it is, since it was violated (or triggered) before the plan.

        Then a plan may have to leave alone what the instance reads, and may not only have to mend it.
        """
        if not self.criteria.only_introduced:
            return False
        own = self.engine.rule_set.parts[part]
        if self.views[part][0] == STATE and own.mode in ("always", "end"):
            if not mentions(own.body, self.action_predicates) and {v.slot for v in own.parameters} <= binding.keys():
                return self._initial.holds(own.body, binding) is not True
            return True
        return part in self._early

    @cached_property
    def _early(self) -> frozenset[int]:
        """The parts of rules that remember an instance from letter 0 for the sake of blame."""
        runtime = Execution.initial(self.engine, criteria=self.criteria).runtime
        monitors = () if runtime is None else runtime.monitors
        return frozenset([m.part for m in monitors if isinstance(m, Automaton) and m.tracks_initial]) | frozenset(
            [m.part for m in monitors if isinstance(m, Invariant) and m.episodes]
        )

    def touches(self, own: GroundEffects, demand: Demand) -> bool:
        """Whether an action may change what a demand is about."""
        return own.touches(demand.subject, self.wanted(demand))

    def may_meet(self, own: GroundEffects, demand: Demand) -> bool:
        """Whether an action may do what is demanded."""
        return self.role(own, demand).achieves

    def role(self, own: GroundEffects, demand: Demand) -> Role:
        """What an action may do about what is demanded."""
        subject, value, wanted = demand.subject, demand.value, self.wanted(demand)
        if value is None or subject >= self.base:
            either = own.touches(subject, wanted)
            return Role(either, either)
        if own.acts(subject, wanted):
            return Role(value, not value)
        sure = own.sure(subject, wanted)
        may = own.settable(subject, wanted)
        return Role(value in sure or value in may, (not value) in sure or (not value) in may)


class Role(NamedTuple):
    """Whether an action may do what is demanded, and whether it may do the opposite."""

    achieves: bool
    hinders: bool


_DEADLINES = frozenset(("within", "always-within"))
"""Operators that only lose by further steps."""
STATE, TRACE, DEADLINE, LETTERS = range(4)
"""What a part of a rule looks at: single states, the trace but for repetitions, numbers of steps up to a deadline, or
numbers of steps in any manner."""


def view_of(part: RulePart, action_predicates: frozenset[int]) -> tuple[int, int]:
    """What a part looks at, and for deadlines how many letters back."""
    operators = [f for g in (part.body, part.guard) if g is not None for f in subformulas(g) if isinstance(f, Temporal)]
    if any([is_stutter_sensitive(f.operator) and f.operator not in _DEADLINES for f in operators]):
        return LETTERS, 0  # any inserted or removed step may change its verdict
    if mentions(part.body, action_predicates):
        polarity = _polarity(part.body, action_predicates, True)
        certain = part.after or (part.mode == "whole" and polarity) or (part.mode == "always" and True in polarity)
        if certain or not all([_steady(f, action_predicates) for f in operators]):
            return LETTERS, 0
    bounds = [f.bounds[0] for f in operators if f.operator in _DEADLINES]
    if bounds:
        return DEADLINE, int(max(bounds)) + 3
    return (TRACE, 0) if operators or part.mode == "whole" else (STATE, 0)


def _polarity(formula: Formula, action_predicates: frozenset[int], positive: bool) -> set[bool]:
    """The signs with which a formula reads the step of the present letter, not looking into temporal operators."""
    return {
        sign
        for part, sign in signed_subformulas(formula, positive)
        if isinstance(part, Atom) and part.predicate in action_predicates
    }


def _signs(operator: Operator) -> tuple[bool, ...]:
    """The sign with which each operand may read a step, so that a letter without such a step changes nothing.

    Empty: no operand may.
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


def _steady(formula: Temporal, action_predicates: frozenset[int]) -> bool:
    """Whether further letters, with steps that the formula does not read, leave its value alone."""
    signs = _signs(formula.operator)
    if not signs:
        return formula.operator == "at-end" or not any(
            [_polarity(f, action_predicates, True) for f in formula.operands]
        )
    if not all(
        [_polarity(f, action_predicates, True) <= {sign} for f, sign in zip(formula.operands, signs, strict=True)]
    ):
        return False
    # Where the second operand (of sometime-before the first) reads a step, a letter more means that the other one is
    # read in a further place: that must not depend on the state.
    if formula.operator in ("until", "since", "release", "sometime-before"):
        other, stepping = formula.operands[:: -1 if formula.operator == "sometime-before" else 1]
        return not _polarity(stepping, action_predicates, True) or all(
            [
                isinstance(f, Truth | Equal | Not | And | Or | Quantified) or _is_step(f, action_predicates)
                for f in subformulas(other)
            ]
        )
    return True


def _is_step(formula: Formula, action_predicates: frozenset[int]) -> bool:
    return isinstance(formula, Atom) and formula.predicate in action_predicates
