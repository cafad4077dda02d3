"""What has to change for a condition to become true: sets of facts of which every fix changes at least one.

A *demand* names a fact (or all facts of a predicate) and the value it should get (``None``: any other). For a false
conjunction one false part is enough, since all of them must become true; for a false disjunction all parts count.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, assert_never

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.footprints import empty_footprint
from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Binding,
    Compare,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Temporal,
    Truth,
)
from plansafe.verifier.model.operations import reads

MAX_SPELT_OUT = 500
"""Facts of one condition that are listed; beyond it whole predicates are demanded."""


class Demand(NamedTuple):
    """``subject`` (predicate or fluent) and ``code`` of a fact (``None``: any of them), and the value it should get."""

    subject: int
    code: int | None
    value: bool | None


Demands = frozenset[Demand]


class _TooMany(Exception):
    """More facts than are worth listing."""


class Demander:
    """Finds demands for conditions of one task."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.task = engine.task
        self.base = len(engine.task.predicates)
        self._changeable = self._find_changeable()

    def changeable(self, subject: int) -> bool:
        """Whether some action changes a predicate or fluent."""
        return subject in self._changeable

    def _find_changeable(self) -> frozenset[int]:
        """Predicates and fluents that an action can change; action facts count."""
        out = {p for p in range(self.base) if p >= len(self.task.static) or not self.task.static[p]}
        for action in self.task.actions.values():
            for effect in action.start.effects:
                out |= {self.base + a.function for a in effect.assignments}
        return frozenset(out)

    def flips(self, evaluator: Evaluator, formula: Formula, binding: dict[int, int], wanted: bool) -> Demands:
        """Demands of which at least one must be met for ``formula`` to get the value ``wanted``.

        Empty if no change of state can give it that value.
        """
        try:
            found = self._flips(evaluator, formula, binding, wanted)
        except _TooMany:
            found = self.patterns(formula, {})
        return self.basic(found or ())

    def _flips(
        self, evaluator: Evaluator, formula: Formula, binding: dict[int, int], wanted: bool
    ) -> frozenset[Demand] | None:
        """``None``: has the value already."""
        match formula:
            case Truth():
                return None if formula.value is wanted else frozenset()
            case Equal():
                return None if evaluator.holds(formula, binding) is wanted else frozenset()
            case Atom():
                if evaluator.holds(formula, binding) is wanted:
                    return None
                code = self.task.code_of(formula.arguments, binding)
                return self._changing([Demand(formula.predicate, code, wanted)])
            case Compare():
                if evaluator.holds(formula, binding) is wanted:
                    return None
                return self.numbers(binding, formula.left, formula.right)
            case Not():
                return self._flips(evaluator, formula.body, binding, not wanted)
            case And() | Or():
                parts: Iterable[tuple[Formula, dict[int, int]]] = [(part, binding) for part in formula.parts]
                return self._junction(evaluator, parts, wanted, isinstance(formula, And) is wanted)
            case Quantified():
                instances = ((formula.body, inner) for inner in self.task.bindings(formula.variables, binding))
                return self._junction(evaluator, instances, wanted, formula.universal is wanted)
            case Temporal():
                raise AssertionError("a temporal formula is no condition of a state")
            case _:
                assert_never(formula)

    def _junction(
        self,
        evaluator: Evaluator,
        parts: Iterable[tuple[Formula, dict[int, int]]],
        wanted: bool,
        all_needed: bool,
    ) -> frozenset[Demand] | None:
        best: frozenset[Demand] | None = None
        union: set[Demand] = set()
        for part, binding in parts:
            found = self._flips(evaluator, part, binding, wanted)
            if found is None:
                if not all_needed:
                    return None
                continue
            if all_needed:
                if best is None or len(found) < len(best):
                    best = found
            else:
                union |= found
                if len(union) > MAX_SPELT_OUT:
                    raise _TooMany
        return best if all_needed else frozenset(union)

    def numbers(self, binding: Binding, *expressions: model.Expression) -> frozenset[Demand]:
        """The fluents that expressions read."""
        found = empty_footprint()
        for expression in expressions:
            self.engine.footprints.numbers(expression, binding, found)
        whole = [Demand(subject, None, None) for subject in found.behind]
        return self._changing([*whole, *[Demand(subject, code, None) for subject, code in found.reads]])

    def _changing(self, demands: Iterable[Demand]) -> frozenset[Demand]:
        return frozenset([d for d in demands if d.subject in self._changeable])

    def basic(self, demands: Iterable[Demand]) -> Demands:
        """Derived facts replaced by what they depend on."""
        axioms = self.engine.axioms
        if axioms is None:
            return frozenset(demands)
        out: set[Demand] = set()
        for demand in demands:
            if demand.subject in axioms.derived:
                inputs = self.engine.footprints.inputs_of(demand.subject)
                out |= {Demand(subject, None, None) for subject in inputs & self._changeable}
            else:
                out.add(demand)
        return frozenset(out)

    def patterns(self, formula: Formula, binding: dict[int, int]) -> frozenset[Demand]:
        """Every fact that a formula (temporal or not) reads under a binding; any change of it counts."""
        out = set()
        for read in reads(formula):
            index = read.predicate if isinstance(read, Atom) else self.base + read.function
            out.add(Demand(index, self.task.known_code(read.arguments, binding), None))
        return self._changing(out)
