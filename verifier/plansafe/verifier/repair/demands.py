"""What has to change for a condition to become true: sets of facts of which every fix changes at least one.

A *demand* names a fact (or all facts of a pattern) and the value it should get (``None``: any other). For a false
conjunction one false part is enough, since all of them must become true; for a false disjunction all parts count. What
quantifies over many objects is not spelt out: see :mod:`.instances`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from typing import NamedTuple, assert_never

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.binding_search import SignedFormula, flatten_goals, satisfying_bindings, select_bindings
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.footprints import empty_footprint
from plansafe.verifier.model.nodes import (
    Action,
    And,
    Atom,
    Binding,
    Compare,
    Equal,
    Fluent,
    Formula,
    Not,
    Operator,
    Or,
    Quantified,
    Task,
    Temporal,
    Truth,
    Variable,
)
from plansafe.verifier.model.operations import expression_fluents, free_slots
from plansafe.verifier.repair.effects import OPEN, ObjectPattern, matches_pattern

MAX_SPELT_OUT = 500
"""Facts of one condition that are listed; beyond it whole predicates are demanded."""
FEW_OBJECTS = 8
"""Instances of a quantifier that are looked at one by one."""
SELECTIVE = 32
"""Instances up to which those are looked at one by one that a part of a condition leaves."""


class Demand(NamedTuple):
    """``subject`` (predicate or fluent) and ``code`` of a fact, and the value it should get.

    Without a code any fact counts that agrees with the ``pattern``: objects, :data:`OPEN` where any will do; ``()``
    agrees with all. With ``ever`` the value is not wanted at the flaw, but at more of the letters up to it: steps that
    take it back on the way do not stop the demand.
    """

    subject: int
    code: int | None
    value: bool | None
    pattern: tuple[int, ...] = ()
    ever: bool = False

    def wanted(self, task: Task) -> ObjectPattern:
        """The objects of the fact, :data:`OPEN` where any will do; ``None`` for any fact."""
        if self.code is None:
            return self.pattern or None
        base = len(task.predicates)
        declared = task.predicates[self.subject] if self.subject < base else task.functions[self.subject - base]
        return task.decode(self.code, len(declared.types))

    def agrees(self, task: Task, subject: int, code: int) -> bool:
        """Whether it is about a fact."""
        if subject != self.subject:
            return False
        if self.code is not None or not self.pattern:
            return self.code in (None, code)
        return matches_pattern(self.pattern, task.decode(code, len(self.pattern)))


Demands = frozenset[Demand]


class _TooMany(Exception):
    """More facts than are worth listing."""


class DemandFinder:
    """Finds demands for conditions of one task."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.task = engine.task
        self.base = len(engine.task.predicates)
        self._changeable = self._find_changeable()
        self._selectivity = Selectivity(engine)

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

    def flips(self, evaluator: Evaluator, formula: Formula, binding: Binding, wanted: bool) -> Demands:
        """Demands of which at least one must be met for ``formula`` to get the value ``wanted``.

        Empty if no change of state can give it that value.
        """
        try:
            found = self._flips(evaluator, formula, binding, wanted)
        except _TooMany:
            found = self.patterns(formula, {})
        return self.basic(found or ())

    def able(
        self, evaluator: Evaluator, variables: Iterable[Variable], parts: Iterable[Formula], binding: Binding
    ) -> Demands:
        """Demands of which one must be met for the parts to be true together under one more binding of variables.

        For each binding under which they are not.
        """
        return self.basic(self._some(evaluator, list(variables), [(part, True) for part in parts], binding))

    def _flips(self, evaluator: Evaluator, formula: Formula, binding: Binding, wanted: bool) -> Demands | None:
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
                parts: Iterable[tuple[Formula, Binding]] = [(part, binding) for part in formula.parts]
                return self._junction(evaluator, parts, wanted, isinstance(formula, And) is wanted)
            case Quantified():
                return self._quantified(evaluator, formula, binding, wanted)
            case Temporal():
                raise AssertionError("a temporal formula is no condition of a state")
            case _:
                assert_never(formula)

    def _quantified(self, evaluator: Evaluator, formula: Quantified, binding: Binding, wanted: bool) -> Demands | None:
        every = formula.universal is wanted
        if prod([len(self.task.domains[v.domain]) for v in formula.variables]) <= FEW_OBJECTS:
            few = ((formula.body, inner) for inner in self.task.bindings(formula.variables, binding))
            return self._junction(evaluator, few, wanted, every)
        if evaluator.holds(formula, binding) is wanted:
            return None
        if every:
            found = satisfying_bindings(evaluator, formula.variables, formula.body, not wanted, binding)
            return self._junction(evaluator, ((formula.body, inner) for inner in found), wanted, True) or frozenset()
        return self._some(evaluator, list(formula.variables), [(formula.body, wanted)], binding)

    def _junction(
        self,
        evaluator: Evaluator,
        parts: Iterable[tuple[Formula, Binding]],
        wanted: bool,
        all_needed: bool,
    ) -> Demands | None:
        best: Demands | None = None
        union: set[Demand] = set()
        looked = 0
        for part, binding in parts:
            found = self._flips(evaluator, part, binding, wanted)
            if found is None:
                if not all_needed:
                    return None
                continue
            if all_needed:
                looked += 1
                best = found if best is None or self._weight(found) < self._weight(best) else best
                if not best or looked >= SELECTIVE:
                    break
            else:
                union |= found
                if len(union) > MAX_SPELT_OUT:
                    raise _TooMany
        return best if all_needed else frozenset(union)

    def _weight(self, demands: Demands) -> tuple[int, int]:
        """Of several parts of which any will do, the one that the fewest actions mend leaves the least to try."""
        return sum([self._selectivity.of(d.subject, d.value) for d in demands]), len(demands)

    # -- many objects -------------------------------------------------------------------------------------------------

    def _some(
        self, evaluator: Evaluator, variables: list[Variable], goals: Iterable[SignedFormula], binding: Binding
    ) -> Demands:
        """For each binding of the variables, demands for one of the goals that is not met under it.

        Of the goals that read a variable, the one that the fewest actions can meet is demanded as a pattern; where it
        leaves few bindings for which it is met, the other goals are asked for under these.
        """
        flat = flatten_goals(self.task, variables, goals, binding)
        if flat is None:
            return frozenset()
        variables, parts, binding = flat
        slots = {v.slot for v in variables}
        closed = [part for part in parts if not free_slots(part[0]) & slots]
        best: Demands | None = None
        for formula, wanted in closed:
            found = self._flips(evaluator, formula, binding, wanted)
            if found is not None and (best is None or self._weight(found) < self._weight(best)):
                best = found
        if best is not None:
            return best
        unmet = [part for part in parts if free_slots(part[0]) & slots]
        ranked = sorted(unmet, key=lambda part: self._weight(self.signed(part[0], part[1], binding)))
        out: set[Demand] = set()
        for number, part in enumerate(ranked, 1):
            out |= self._asked(evaluator, variables, part, binding)
            left = ranked[number:]
            chosen = select_bindings(evaluator, variables, part, binding, SELECTIVE) if left else None
            if chosen is not None:
                rest = [v for v in variables if v.slot not in chosen.slots]
                for inner in chosen.bindings:
                    out |= self._some(evaluator, rest, left, inner)
                break
        return frozenset(out)

    def _asked(self, evaluator: Evaluator, variables: list[Variable], part: SignedFormula, binding: Binding) -> Demands:
        """Demands for a part, for each binding of the variables under which it is not met."""
        formula, wanted = part
        if isinstance(formula, And | Or) and isinstance(formula, Or) is wanted:
            found = [self._some(evaluator, variables, [(one, wanted)], binding) for one in formula.parts]
            return frozenset().union(*found)
        return self.signed(formula, wanted, binding)

    # -- facts that are read ------------------------------------------------------------------------------------------

    def numbers(self, binding: Binding, *expressions: model.Expression) -> Demands:
        """The fluents that expressions read."""
        found = empty_footprint()
        for expression in expressions:
            self.engine.footprints.add_fluent_reads(expression, binding, found)
        whole = [Demand(subject, None, None) for subject in found.unbounded_reads]
        return self._changing([*whole, *[Demand(subject, code, None) for subject, code in found.reads]])

    def _changing(self, demands: Iterable[Demand]) -> Demands:
        return frozenset([d for d in demands if d.subject in self._changeable])

    def basic(self, demands: Iterable[Demand]) -> Demands:
        """Derived facts replaced by what they depend on."""
        axioms = self.engine.axioms
        if axioms is None:
            return frozenset(demands)
        out: set[Demand] = set()
        for demand in demands:
            if demand.subject in axioms.derived:
                for subject in self.engine.footprints.derived_inputs(demand.subject) & self._changeable:
                    out |= self._any_change(Demand(subject, None, None))
            else:
                out.add(demand)
        return frozenset(out)

    def patterns(self, formula: Formula, binding: Binding) -> Demands:
        """Every fact that a formula (temporal or not) reads under a binding; any change of it counts."""
        return self.signed(formula, None, binding)

    def _any_change(self, demand: Demand) -> set[Demand]:
        """Both values of a fact, at any letter."""
        if demand.subject >= self.base:
            return {demand}
        return {demand._replace(value=value, ever=True) for value in (True, False)}

    def signed(self, formula: Formula, wanted: bool | None, binding: Binding, ever: bool = False) -> Demands:
        """Every fact that a formula (temporal or not) reads under a binding, changed so that it helps.

        A formula that is false, say, can become true only if a fact that it reads unnegated becomes true more often, or
        one that it reads negated false.
        """
        out: set[Demand] = set()
        for read, value in signed_reads(formula, wanted):
            if isinstance(read, Atom):
                subject, arguments = read.predicate, read.arguments
            else:
                subject, arguments, value = self.base + read.function, read.arguments, None
            objects = tuple([a if a >= 0 else binding.get(-1 - a, OPEN) for a in arguments])
            pattern = objects if OPEN in objects and any([o != OPEN for o in objects]) else ()
            code = None if OPEN in objects else self.task.encode(objects)
            demand = Demand(subject, code, value, pattern, ever)
            out |= {demand} if value is not None else self._any_change(demand)
        return self._changing(out)


_MOST = 1_000_000


class Selectivity:
    """Counts by predicate and value, for one task."""

    def __init__(self, engine: Engine) -> None:
        self.task = engine.task
        self._base = len(engine.task.predicates)
        self._counts: dict[tuple[int, bool | None], int] = {}
        for action in engine.task.actions.values():
            for effect in action.start.effects:
                for atom in effect.adds:
                    self._add(action, atom.predicate, True, atom.arguments)
                for atom in effect.deletes:
                    self._add(action, atom.predicate, False, atom.arguments)
                for assignment in effect.assignments:
                    self._add(action, self._base + assignment.function, None, assignment.arguments)

    def _add(self, action: Action, subject: int, value: bool | None, arguments: tuple[int, ...]) -> None:
        left = [v for v in action.parameters if -1 - v.slot not in arguments]
        count = prod([len(self.task.domains[v.domain]) for v in left])
        for key in {(subject, value), (subject, None)}:
            self._counts[key] = min(self._counts.get(key, 0) + count, _MOST)

    def of(self, subject: int, value: bool | None) -> int:
        """The ground actions with an effect on one fact of a subject; at least 1."""
        return max(1, self._counts.get((subject, value), 0))


def signed_reads(formula: Formula, wanted: bool | None) -> Iterator[tuple[Atom | Fluent, bool | None]]:
    """Each atom and fluent of a formula, with the value that may give the formula the value ``wanted``.

    ``None``: any change may. An atom that is read both ways comes twice.
    """
    stack: list[tuple[Formula, bool | None]] = [(formula, wanted)]
    while stack:
        part, sign = stack.pop()
        match part:
            case Atom():
                yield part, sign
            case Compare():
                for expression in (part.left, part.right):
                    yield from [(fluent, None) for fluent in expression_fluents(expression)]
            case Not():
                stack.append((part.body, _times(sign, False)))
            case And() | Or():
                stack += [(inner, sign) for inner in part.parts]
            case Quantified():
                stack.append((part.body, sign))
            case Temporal():
                signs = _signs(part.operator)
                stack += [(inner, _times(sign, own)) for inner, own in zip(part.operands, signs, strict=True)]
            case Truth() | Equal():
                pass
            case _:
                assert_never(part)


def _times(sign: bool | None, own: bool | None) -> bool | None:
    return None if sign is None or own is None else sign is own


def _signs(operator: Operator) -> tuple[bool | None, ...]:
    """For each operand, whether its truth at more letters helps (or hinders); ``None``: it may do either."""
    match operator:
        case "always" | "historically" | "sometime" | "once" | "within" | "at-end":
            return (True,)
        case "next" | "weak-next" | "yesterday" | "weak-yesterday" | "hold-after" | "hold-during":
            return (True,)
        case "until" | "release" | "since":
            return True, True
        case "sometime-after" | "sometime-before" | "always-within":
            return False, True
        case "at-most-once":
            return (None,)
        case _:
            assert_never(operator)
