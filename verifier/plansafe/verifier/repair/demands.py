"""Demands for a condition to become true: sets of changes such that every fix makes at least one of them.

A *demand* names a fact (or all facts of a pattern) and the value it should get (``None``: any other). For a false
conjunction the demands of one false part are enough, since all parts must become true; for a false disjunction the
demands of all parts are needed. Quantifiers over many objects are not expanded: their instances are searched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from typing import NamedTuple, assert_never

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.model.binding_search import (
    SignedFormula,
    find_bindings_with_value,
    flatten_goals,
    select_bindings,
)
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.footprints import make_empty_footprint
from plansafe.verifier.model.nodes import (
    Action,
    And,
    Atom,
    Binding,
    Compare,
    Equal,
    Expression,
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
from plansafe.verifier.repair.ground_effects import OPEN, ObjectPattern, matches_pattern

MAX_LISTED_FACTS = 500
"""Facts of one condition that are listed; if there are more, whole predicates are demanded."""
MAX_ENUMERATED_INSTANCES = 8
"""Instances of a quantifier that are examined one by one."""
MAX_SELECTED_INSTANCES = 32
"""Bindings that satisfy one part of a condition, up to which its other parts are examined under each of them.

In a conjunction with more false parts than this number, only so many false parts are examined."""
_MAX_ACTION_COUNT = 1_000_000
"""Counts of actions beyond it are not compared."""


class Demand(NamedTuple):
    """``subject`` (predicate or fluent) and ``code`` of a fact, and the value it should get.

    Without a code, the demand is about every fact that matches the ``pattern``: an object for each argument, or
    :data:`OPEN` for any object; ``()`` matches all facts, as ``None`` does in an :data:`ObjectPattern`. With ``ever``
    the value is needed at more of the letters up to the flaw, not necessarily at the flaw: a step that reverses it
    before the flaw does not make the demand useless.
    """

    subject: int
    code: int | None
    value: bool | None
    pattern: tuple[int, ...] = ()
    ever: bool = False

    def make_pattern(self, task: Task) -> ObjectPattern:
        """The objects of the fact, :data:`OPEN` for any object; ``None`` for any fact."""
        if self.code is None:
            return self.pattern or None
        return task.decode(self.code, len(task.get_symbol(self.subject).types))

    def is_about(self, task: Task, subject: int, code: int) -> bool:
        """Whether the demand is about a fact."""
        if subject != self.subject:
            return False
        if self.code is not None or not self.pattern:
            return self.code in (None, code)
        return matches_pattern(self.pattern, task.decode(code, len(self.pattern)))


Demands = frozenset[Demand]


class _TooManyFacts(Exception):
    """More facts than are worth listing."""


class DemandFinder:
    """Finds the demands of the conditions of one task."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.task = engine.task
        self.predicate_count = len(engine.task.predicates)
        self._changeable_subjects = self._find_changeable_subjects()
        self._action_counts = self._count_actions()

    def is_changeable(self, subject: int) -> bool:
        """Whether some action changes a predicate or fluent."""
        return subject in self._changeable_subjects

    def _find_changeable_subjects(self) -> frozenset[int]:
        """Predicates and fluents that an action can change, including action predicates."""
        subjects = {p for p in range(self.predicate_count) if p >= len(self.task.static) or not self.task.static[p]}
        for action in self.task.actions.values():
            for effect in action.start.effects:
                subjects |= {self.predicate_count + assignment.function for assignment in effect.assignments}
        return frozenset(subjects)

    def _count_actions(self) -> dict[tuple[int, bool | None], int]:
        """The number of ground actions that can give one fact of a subject a value, approximately."""
        counts: dict[tuple[int, bool | None], int] = {}

        def add(action: Action, subject: int, value: bool | None, arguments: tuple[int, ...]) -> None:
            free_variables = [v for v in action.parameters if -1 - v.slot not in arguments]
            count = prod([len(self.task.domains[v.domain]) for v in free_variables])
            for key in {(subject, value), (subject, None)}:
                counts[key] = min(counts.get(key, 0) + count, _MAX_ACTION_COUNT)

        for action in self.task.actions.values():
            for effect in action.start.effects:
                for atom in effect.adds:
                    add(action, atom.predicate, True, atom.arguments)
                for atom in effect.deletes:
                    add(action, atom.predicate, False, atom.arguments)
                for assignment in effect.assignments:
                    add(action, self.predicate_count + assignment.function, None, assignment.arguments)
        return counts

    def find(self, evaluator: Evaluator, formula: Formula, binding: Binding, truth: bool) -> Demands:
        """Demands for ``formula`` to get a truth value: at least one must be met.

        Empty if no change of state can give it that value.
        """
        try:
            demands = self._find(evaluator, formula, binding, truth)
        except _TooManyFacts:
            demands = self.demand_any_change(formula, {})
        return self.replace_derived(demands or ())

    def find_for_instance(
        self, evaluator: Evaluator, variables: Iterable[Variable], parts: Iterable[Formula], binding: Binding
    ) -> Demands:
        """Demands for the parts to hold together under one more binding of the variables: one must be met."""
        return self.replace_derived(
            self._find_for_some_instance(evaluator, list(variables), [(part, True) for part in parts], binding)
        )

    def _find(self, evaluator: Evaluator, formula: Formula, binding: Binding, truth: bool) -> Demands | None:
        """Find demands as :meth:`find` does; ``None`` if the formula already has the value."""
        match formula:
            case Truth():
                return None if formula.value is truth else frozenset()
            case Equal():
                return None if evaluator.holds(formula, binding) is truth else frozenset()
            case Atom():
                if evaluator.holds(formula, binding) is truth:
                    return None
                code = self.task.code_of(formula.arguments, binding)
                return self._select_changeable([Demand(formula.predicate, code, truth)])
            case Compare():
                if evaluator.holds(formula, binding) is truth:
                    return None
                return self.find_fluent_changes(binding, formula.left, formula.right)
            case Not():
                return self._find(evaluator, formula.body, binding, not truth)
            case And() | Or():
                parts: Iterable[tuple[Formula, Binding]] = [(part, binding) for part in formula.parts]
                return self._find_for_parts(evaluator, parts, truth, isinstance(formula, And) is truth)
            case Quantified():
                return self._find_for_quantifier(evaluator, formula, binding, truth)
            case Temporal():
                raise AssertionError("a temporal formula is not a condition of a state")
            case _:
                assert_never(formula)

    def _find_for_quantifier(
        self, evaluator: Evaluator, formula: Quantified, binding: Binding, truth: bool
    ) -> Demands | None:
        all_needed = formula.universal is truth
        if prod([len(self.task.domains[v.domain]) for v in formula.variables]) <= MAX_ENUMERATED_INSTANCES:
            parts = ((formula.body, full_binding) for full_binding in self.task.bindings(formula.variables, binding))
            return self._find_for_parts(evaluator, parts, truth, all_needed)
        if evaluator.holds(formula, binding) is truth:
            return None
        if all_needed:
            failing_bindings = find_bindings_with_value(evaluator, formula.variables, formula.body, not truth, binding)
            parts = ((formula.body, failing_binding) for failing_binding in failing_bindings)
            return self._find_for_parts(evaluator, parts, truth, True) or frozenset()
        return self._find_for_some_instance(evaluator, list(formula.variables), [(formula.body, truth)], binding)

    def _find_for_parts(
        self, evaluator: Evaluator, parts: Iterable[tuple[Formula, Binding]], truth: bool, all_needed: bool
    ) -> Demands | None:
        """Demands for all parts, or for one of them, to get the value ``truth``; ``None``: they already have it.

        If all are needed: the demands of one part without the value, which the fewest actions can change.
        """
        best: Demands | None = None
        demands_of_all_parts: set[Demand] = set()
        unmet_count = 0
        for part, binding in parts:
            demands = self._find(evaluator, part, binding, truth)
            if demands is None:
                if not all_needed:
                    return None
                continue
            if all_needed:
                unmet_count += 1
                best = demands if best is None or self._rank(demands) < self._rank(best) else best
                if not best or unmet_count >= MAX_SELECTED_INSTANCES:
                    break
            else:
                demands_of_all_parts |= demands
                if len(demands_of_all_parts) > MAX_LISTED_FACTS:
                    raise _TooManyFacts
        return best if all_needed else frozenset(demands_of_all_parts)

    def _rank(self, demands: Demands) -> tuple[int, int]:
        """The number of actions that can meet demands: of several parts, the one with the fewest is demanded."""
        counts = self._action_counts
        return sum([max(1, counts.get((demand.subject, demand.value), 0)) for demand in demands]), len(demands)

    # -- many objects -------------------------------------------------------------------------------------------------

    def _find_for_some_instance(
        self, evaluator: Evaluator, variables: list[Variable], goals: Iterable[SignedFormula], binding: Binding
    ) -> Demands:
        """For each binding of the variables, demands for a goal that is not met under it.

        Of the goals that read a variable, the goal that the fewest actions can meet is demanded as a pattern. If it is
        met under few bindings, the other goals are demanded under these bindings.
        """
        flat_goals = flatten_goals(self.task, variables, goals, binding)
        if flat_goals is None:
            return frozenset()
        variables, parts, binding = flat_goals
        slots = {v.slot for v in variables}
        best: Demands | None = None
        open_parts: list[SignedFormula] = []
        for formula, truth in parts:
            if free_slots(formula) & slots:
                open_parts.append((formula, truth))
                continue
            closed_demands = self._find(evaluator, formula, binding, truth)
            if closed_demands is not None and (best is None or self._rank(closed_demands) < self._rank(best)):
                best = closed_demands
        if best is not None:
            return best

        def rank_part(part: SignedFormula) -> tuple[int, int]:
            formula, truth = part
            return self._rank(self.find_helpful_changes(formula, truth, binding))

        open_parts.sort(key=rank_part)
        demands: set[Demand] = set()
        for number, part in enumerate(open_parts, 1):
            demands |= self._find_for_part_of_instances(evaluator, variables, part, binding)
            other_parts = open_parts[number:]
            if not other_parts:
                break
            selected_bindings = select_bindings(evaluator, variables, part, binding, MAX_SELECTED_INSTANCES)
            if selected_bindings is not None:
                free_variables = [v for v in variables if v.slot not in selected_bindings.slots]
                for full_binding in selected_bindings.bindings:
                    demands |= self._find_for_some_instance(evaluator, free_variables, other_parts, full_binding)
                break
        return frozenset(demands)

    def _find_for_part_of_instances(
        self, evaluator: Evaluator, variables: list[Variable], part: SignedFormula, binding: Binding
    ) -> Demands:
        """Demands for a part, for each binding of the variables under which it is not met."""
        formula, truth = part
        if isinstance(formula, And | Or) and isinstance(formula, Or) is truth:
            demands_by_part = [
                self._find_for_some_instance(evaluator, variables, [(operand, truth)], binding)
                for operand in formula.parts
            ]
            return frozenset().union(*demands_by_part)
        return self.find_helpful_changes(formula, truth, binding)

    # -- facts that are read ------------------------------------------------------------------------------------------

    def find_fluent_changes(self, binding: Binding, *expressions: Expression) -> Demands:
        """Demands for a change of a fluent that the expressions read."""
        footprint = make_empty_footprint()
        for expression in expressions:
            self.engine.footprints.add_fluent_reads(expression, binding, footprint)
        demands = [Demand(subject, None, None) for subject in footprint.unbounded_reads]
        demands += [Demand(subject, code, None) for subject, code in footprint.reads]
        return self._select_changeable(demands)

    def _select_changeable(self, demands: Iterable[Demand]) -> Demands:
        return frozenset([demand for demand in demands if demand.subject in self._changeable_subjects])

    def replace_derived(self, demands: Iterable[Demand]) -> Demands:
        """Replace demands for derived facts by demands for the facts that they depend on."""
        axioms = self.engine.axioms
        if axioms is None:
            return frozenset(demands)
        basic_demands: set[Demand] = set()
        for demand in demands:
            if demand.subject in axioms.derived:
                for subject in self.engine.footprints.find_derived_inputs(demand.subject) & self._changeable_subjects:
                    basic_demands |= self._demand_both_values(Demand(subject, None, None))
            else:
                basic_demands.add(demand)
        return frozenset(basic_demands)

    def demand_any_change(self, formula: Formula, binding: Binding) -> Demands:
        """Demands for any change of a fact that a formula (temporal or not) reads under a binding."""
        return self.find_helpful_changes(formula, None, binding)

    def _demand_both_values(self, demand: Demand) -> set[Demand]:
        if demand.subject >= self.predicate_count:
            return {demand}
        return {demand._replace(value=value, ever=True) for value in (True, False)}

    def find_helpful_changes(
        self, formula: Formula, truth: bool | None, binding: Binding, ever: bool = False
    ) -> Demands:
        """Demands for the changes of facts, read by a formula (temporal or not), that help it to get a truth value.

        A false formula, for example, can become true only if a fact that it reads unnegated becomes true more often, or
        one that it reads negated becomes false more often.
        """
        demands: set[Demand] = set()
        for read, value in _list_reads_with_helpful_value(formula, truth):
            if isinstance(read, Atom):
                subject, arguments = read.predicate, read.arguments
            else:
                subject, arguments, value = self.predicate_count + read.function, read.arguments, None
            objects = tuple([argument if argument >= 0 else binding.get(-1 - argument, OPEN) for argument in arguments])
            pattern = objects if OPEN in objects and any([object_ != OPEN for object_ in objects]) else ()
            code = None if OPEN in objects else self.task.encode(objects)
            demand = Demand(subject, code, value, pattern, ever)
            demands |= {demand} if value is not None else self._demand_both_values(demand)
        return self._select_changeable(demands)


def _list_reads_with_helpful_value(formula: Formula, truth: bool | None) -> Iterator[tuple[Atom | Fluent, bool | None]]:
    """List each atom and fluent of a formula with its value that may give the formula the value ``truth``.

    The value is ``None`` if any change may do so. An atom that is read with both signs is listed twice.
    """
    stack: list[tuple[Formula, bool | None]] = [(formula, truth)]
    while stack:
        part, sign = stack.pop()
        match part:
            case Atom():
                yield part, sign
            case Compare():
                for expression in (part.left, part.right):
                    yield from [(fluent, None) for fluent in expression_fluents(expression)]
            case Not():
                stack.append((part.body, _multiply_signs(sign, False)))
            case And() | Or():
                stack += [(operand, sign) for operand in part.parts]
            case Quantified():
                stack.append((part.body, sign))
            case Temporal():
                signs = _find_operand_signs(part.operator)
                stack += [
                    (inner, _multiply_signs(sign, operand_sign))
                    for inner, operand_sign in zip(part.operands, signs, strict=True)
                ]
            case Truth() | Equal():
                pass
            case _:
                assert_never(part)


def _multiply_signs(sign: bool | None, operand_sign: bool | None) -> bool | None:
    """The sign of an operand in a formula, from the sign of its operator there and its own sign in the operator."""
    return None if sign is None or operand_sign is None else sign is operand_sign


def _find_operand_signs(operator: Operator) -> tuple[bool | None, ...]:
    """For each operand, whether its truth at more letters helps or hinders; ``None`` if it may do either."""
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
