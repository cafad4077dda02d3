"""Simpler formulas and tasks for planners: constants folded, unused functions (mostly costs) removed."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import assert_never

from plansafe.verifier.model.nodes import (
    FALSE,
    TRUE,
    Action,
    And,
    Assignment,
    Atom,
    Compare,
    Equal,
    Fluent,
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
    expression_fluents,
    find_atoms_and_fluents,
    has_division,
    list_task_formulas,
    negate,
    substitute,
    substitute_in_expression,
)
from plansafe.verifier.planning.pddl_names import TOTAL_COST


def remove_unused_functions(task: Task) -> Task:
    """Remove the functions that neither a condition nor the metric reads, directly or through other functions.

    A step that reads an undefined number is not applicable. So where a removed effect reads one, a static predicate
    says for which objects the number is defined; a function whose computation may fail otherwise is kept. A kept
    function of the original task with the name of the cost function is renamed.
    """
    assignments = [a for action in task.actions.values() for e in action.start.effects for a in e.assignments]
    reads = [read for formula in list_task_formulas(task) for read in find_atoms_and_fluents(formula)]
    needed_functions = {read.function for read in reads if isinstance(read, Fluent)}
    if task.metric is not None:
        needed_functions |= {fluent.function for fluent in expression_fluents(task.metric.expression)}
    total = {function for function in range(len(task.functions)) if is_total(task, function)}
    written = {assignment.function for assignment in assignments}
    additive = {f for f in written if all([_is_additive(a) for a in assignments if a.function == f])}
    size = -1
    while size < len(needed_functions):
        size = len(needed_functions)
        for action in task.actions.values():
            for effect in action.start.effects:
                for a in effect.assignments:
                    read = {fluent.function for fluent in expression_fluents(a.value)}
                    unconditional = effect.condition is TRUE and not effect.variables
                    removable = a.function in additive and not read & written
                    removable &= unconditional or {a.function, *read} <= total
                    if not removable or a.function in needed_functions:
                        needed_functions |= {a.function, *read}
    return _FunctionRemover(task, sorted(needed_functions), total).reduce_task()


def is_total(task: Task, function: int) -> bool:
    """Whether a function has a value for all objects of its types in the initial state (and so in every state)."""
    instances = prod([len(task.domains[domain]) for domain in task.functions[function].domains])
    return len(task.initial_fluents[function]) >= instances


class _FunctionRemover:
    """Removes the functions that are not ``needed``; the needed ones get a new ``number``."""

    def __init__(self, task: Task, needed_functions: list[int], total_functions: set[int]) -> None:
        self.task, self.needed, self.total = task, needed_functions, total_functions
        self.number = {old: new for new, old in enumerate(needed_functions)}
        self.predicates = list(task.predicates)
        self.facts = list(task.initial_facts)
        self.facts += [set() for _ in range(len(self.predicates) - len(self.facts))]
        self.defined: dict[int, int] = {}

    def reduce_task(self) -> Task:
        task = self.task
        actions = {name: self._rewrite_action(action) for name, action in task.actions.items()}
        metric = task.metric
        if metric is not None:
            metric = metric._replace(expression=substitute_in_expression(metric.expression, {}, self.number))
        return task._replace(
            predicates=self.predicates,
            functions=[self._rewrite_function(task.functions[old]) for old in self.needed],
            actions=actions,
            axioms=tuple(
                [tuple([a._replace(body=self._rewrite_formula(a.body)) for a in stratum]) for stratum in task.axioms]
            ),
            initial_facts=self.facts,
            initial_fluents=[task.initial_fluents[old] for old in self.needed],
            goal=tuple([self._rewrite_formula(part) for part in task.goal]),
            metric=metric,
            static=[*task.static, *[True] * (len(self.predicates) - len(task.static))],
        )

    def _rewrite_function(self, function: Predicate) -> Predicate:
        is_original_cost = function.name == TOTAL_COST and function.node is not None
        return function._replace(name=f"{TOTAL_COST}-of-task") if is_original_cost else function

    def _rewrite_formula(self, formula: Formula) -> Formula:
        return substitute(formula, {}, self.number)

    def _rewrite_action(self, action: Action) -> Action:
        condition = [self._rewrite_formula(part) for part in action.start.condition]
        effects = []
        for effect in action.start.effects:
            assignments = []
            for assignment in effect.assignments:
                if assignment.function in self.number:
                    value = substitute_in_expression(assignment.value, {}, self.number)
                    assignments.append(assignment._replace(function=self.number[assignment.function], value=value))
                else:
                    condition += self._require_defined(assignment)
            if assignments or effect.adds or effect.deletes:
                effect_condition = self._rewrite_formula(effect.condition)
                effects.append(effect._replace(condition=effect_condition, assignments=tuple(assignments)))
        return action._replace(start=action.start._replace(condition=tuple(condition), effects=tuple(effects)))

    def _require_defined(self, assignment: Assignment) -> Iterator[Formula]:
        """Conditions that the numbers are defined that a removed effect reads."""
        target = Fluent(assignment.function, assignment.arguments)
        for fluent in (target, *expression_fluents(assignment.value)):
            if fluent.function not in self.total:
                if fluent.function not in self.defined:
                    declared = self.task.functions[fluent.function]
                    self.defined[fluent.function] = len(self.predicates)
                    self.predicates.append(declared._replace(name=f"defined-{declared.name}", node=None))
                    self.facts.append(set(self.task.initial_fluents[fluent.function]))
                yield Atom(self.defined[fluent.function], fluent.arguments)


def _is_additive(assignment: Assignment) -> bool:
    """Whether an effect only adds to its fluent, and its computation cannot fail on defined numbers."""
    return assignment.operator in ("increase", "decrease") and not has_division(assignment.value)


def is_literal(formula: Formula) -> bool:
    """Whether a formula has no junctions and no quantifiers."""
    return isinstance(formula.body if isinstance(formula, Not) else formula, Truth | Atom | Equal | Compare)


def is_conjunction(formula: Formula) -> bool:
    """Whether a formula is a conjunction of literals."""
    return all([is_literal(part) for part in formula.parts]) if isinstance(formula, And) else is_literal(formula)


def is_simple_precondition(formula: Formula) -> bool:
    """Whether a precondition is a conjunction of literals and of short clauses."""
    parts = formula.parts if isinstance(formula, And) else (formula,)
    clauses = [part for part in parts if isinstance(part, Or)]
    return (
        all([is_literal(part) for part in parts if not isinstance(part, Or)])
        and len(clauses) <= 1
        and all([len(clause.parts) <= 3 and all([is_literal(part) for part in clause.parts]) for clause in clauses])
    )


def fold_constants(task: Task, formula: Formula) -> Formula:
    """Fold constants and quantifiers over no objects, and flatten conjunctions and disjunctions."""
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
            return TRUE
        case Equal() if formula.left >= 0 and formula.right >= 0:
            return FALSE
        case Truth() | Atom() | Equal() | Compare() | Temporal():
            return formula
        case _:
            assert_never(formula)
