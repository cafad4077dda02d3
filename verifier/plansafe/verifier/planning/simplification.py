"""Dropping the functions that decide nothing (costs, mostly), so that more planners apply to a task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import (
    TRUE,
    Action,
    And,
    Arithmetic,
    Assignment,
    Atom,
    Compare,
    Effect,
    Equal,
    Expression,
    Formula,
    Not,
    Or,
    Predicate,
    Quantified,
    Task,
    Temporal,
    Truth,
)
from plansafe.verifier.model.operations import (
    atoms_and_fluents,
    expression_fluents,
    negate,
    subexpressions,
    substitute,
    substitute_in_expression,
)
from plansafe.verifier.planning.pddl_names import TOTAL_COST


def remove_unused_functions(task: Task) -> Task:
    """The task without functions that neither a condition nor the metric reads, directly or through other functions.

    A step that reads an undefined number cannot be taken: where a dropped effect may, a static predicate says where
    the number is defined. A function that an effect may fail to compute otherwise is kept. A kept function of the
    task's own that is named as costs are is renamed.
    """
    assignments = [a for action in task.actions.values() for e in action.start.effects for a in e.assignments]
    needed = {
        r.function for formula in _formulas(task) for r in atoms_and_fluents(formula) if isinstance(r, model.Fluent)
    }
    if task.metric is not None:
        needed |= {fluent.function for fluent in expression_fluents(task.metric.expression)}
    total = {f for f in range(len(task.functions)) if is_total(task, f)}
    written = {a.function for a in assignments}
    additive = {f for f in written if all([_additive(a) for a in assignments if a.function == f])}
    grown = True
    while grown:
        size = len(needed)
        for action in task.actions.values():
            for effect in action.start.effects:
                for a in effect.assignments:
                    read = {fluent.function for fluent in expression_fluents(a.value)}
                    droppable = a.function in additive and not read & written
                    droppable &= _plain(effect) or {a.function, *read} <= total
                    if not droppable or a.function in needed:
                        needed |= {a.function, *read}
        grown = len(needed) > size
    return _Slicer(task, sorted(needed), total).sliced()


def is_total(task: Task, function: int) -> bool:
    """Whether a function has a value for all objects of its types in the initial state (and so for ever)."""
    wanted = 1
    for domain in task.functions[function].domains:
        wanted *= len(task.domains[domain])
    return len(task.initial_fluents[function]) >= wanted


class _Slicer:
    def __init__(self, task: Task, kept: list[int], total: set[int]) -> None:
        self.task, self.kept, self.total = task, kept, total
        self.number = {old: new for new, old in enumerate(kept)}
        self.predicates = list(task.predicates)
        self.facts = list(task.initial_facts)
        self.facts += [set() for _ in range(len(self.predicates) - len(self.facts))]
        self.defined: dict[int, int] = {}

    def sliced(self) -> Task:
        task = self.task
        actions = {name: self._action(action) for name, action in task.actions.items()}
        metric = task.metric
        if metric is not None:
            metric = metric._replace(expression=substitute_in_expression(metric.expression, {}, self.number))
        return task._replace(
            predicates=self.predicates,
            functions=[self._function(task.functions[old]) for old in self.kept],
            actions=actions,
            axioms=tuple([tuple([a._replace(body=self._formula(a.body)) for a in stratum]) for stratum in task.axioms]),
            initial_facts=self.facts,
            initial_fluents=[task.initial_fluents[old] for old in self.kept],
            goal=tuple([self._formula(part) for part in task.goal]),
            metric=metric,
            static=[*task.static, *[True] * (len(self.predicates) - len(task.static))],
        )

    def _function(self, function: Predicate) -> Predicate:
        own = function.name == TOTAL_COST and function.node is not None
        return function._replace(name=f"{TOTAL_COST}-of-task") if own else function

    def _formula(self, formula: Formula) -> Formula:
        return substitute(formula, {}, self.number)

    def _action(self, action: Action) -> Action:
        condition = [self._formula(part) for part in action.start.condition]
        effects = []
        for effect in action.start.effects:
            kept = []
            for a in effect.assignments:
                if a.function in self.number:
                    value = substitute_in_expression(a.value, {}, self.number)
                    kept.append(a._replace(function=self.number[a.function], value=value))
                else:
                    condition += self._definitions(a)
            if kept or effect.adds or effect.deletes:
                effects.append(effect._replace(condition=self._formula(effect.condition), assignments=tuple(kept)))
        return action._replace(start=action.start._replace(condition=tuple(condition), effects=tuple(effects)))

    def _definitions(self, assignment: Assignment) -> Iterator[Formula]:
        """That the numbers which a dropped effect reads are defined."""
        target = model.Fluent(assignment.function, assignment.arguments)
        for fluent in (target, *expression_fluents(assignment.value)):
            if fluent.function not in self.total:
                if fluent.function not in self.defined:
                    declared = self.task.functions[fluent.function]
                    self.defined[fluent.function] = len(self.predicates)
                    self.predicates.append(declared._replace(name=f"defined-{declared.name}", node=None))
                    self.facts.append(set(self.task.initial_fluents[fluent.function]))
                yield Atom(self.defined[fluent.function], fluent.arguments)


def _formulas(task: Task) -> Iterator[Formula]:
    yield from task.goal
    for stratum in task.axioms:
        yield from [axiom.body for axiom in stratum]
    for action in task.actions.values():
        yield from action.start.condition
        yield from [effect.condition for effect in action.start.effects]


def _plain(effect: Effect) -> bool:
    return effect.condition is TRUE and not effect.variables


def _additive(assignment: Assignment) -> bool:
    """Whether an effect only adds to its fluent, and computes nothing that can fail on defined numbers."""
    return assignment.operator in ("increase", "decrease") and not has_division(assignment.value)


def is_literal(formula: Formula) -> bool:
    """Whether a formula has no junctions and no quantifiers."""
    return isinstance(formula.body if isinstance(formula, Not) else formula, Truth | Atom | Equal | Compare)


def is_conjunction(formula: Formula) -> bool:
    """Whether a formula is a conjunction of literals."""
    return all([is_literal(p) for p in formula.parts]) if isinstance(formula, And) else is_literal(formula)


def is_simple_precondition(formula: Formula) -> bool:
    """Whether a precondition is a conjunction of literals and of short clauses."""
    parts = formula.parts if isinstance(formula, And) else (formula,)
    clauses = [p for p in parts if isinstance(p, Or)]
    return (
        all([is_literal(p) for p in parts if not isinstance(p, Or)])
        and len(clauses) <= 1
        and all([len(c.parts) <= 3 and all([is_literal(p) for p in c.parts]) for c in clauses])
    )


def has_division(expression: Expression) -> bool:
    """Whether an expression divides, which can fail."""
    return any([isinstance(part, Arithmetic) and part.operator == "/" for part in subexpressions(expression)])


def fold_constants(task: Task, formula: Formula) -> Formula:
    """An equal formula: constants folded, quantifiers over no objects decided, junctions flat."""
    match formula:
        case Not():
            return negate(fold_constants(task, formula.body))
        case And() | Or():
            deciding = isinstance(formula, Or)
            parts: list[Formula] = []
            for part in formula.parts:
                part = fold_constants(task, part)
                if isinstance(part, Truth):
                    if part.value is deciding:
                        return part
                elif type(part) is type(formula):
                    parts += part.parts
                else:
                    parts.append(part)
            if len(parts) < 2:
                return parts[0] if parts else Truth(not deciding)
            return Or(tuple(parts)) if deciding else And(tuple(parts))
        case Quantified():
            if any([not task.domains[v.domain] for v in formula.variables]):
                return Truth(formula.universal)
            body = fold_constants(task, formula.body)
            return body if isinstance(body, Truth) else Quantified(formula.universal, formula.variables, body)
        case Equal() if formula.left == formula.right:
            return model.TRUE
        case Equal() if formula.left >= 0 and formula.right >= 0:
            return model.FALSE
        case Truth() | Atom() | Equal() | Compare() | Temporal():
            return formula
        case _:
            assert_never(formula)
