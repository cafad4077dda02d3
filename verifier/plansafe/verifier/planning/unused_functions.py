"""Removal of the functions (mostly costs) that no condition of a task reads."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from plansafe.verifier.model.nodes import (
    TRUE,
    Action,
    Assignment,
    Atom,
    Axiom,
    Effect,
    Expression,
    Fluent,
    Formula,
    Predicate,
    Task,
)
from plansafe.verifier.model.operations import (
    expression_fluents,
    find_atoms_and_fluents,
    has_division,
    list_task_formulas,
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
    reads = [read for formula in list_task_formulas(task) for read in find_atoms_and_fluents(formula)]
    needed_functions = {read.function for read in reads if isinstance(read, Fluent)}
    if task.metric is not None:
        needed_functions |= _list_read_functions(task.metric.expression)
    effects = [effect for action in task.actions.values() for effect in action.start.effects]
    assignments = [(effect, assignment) for effect in effects for assignment in effect.assignments]
    total_functions = {function for function in range(len(task.functions)) if is_total(task, function)}
    written_functions = {assignment.function for _, assignment in assignments}
    other_functions = {assignment.function for _, assignment in assignments if not _is_additive(assignment)}
    size = -1
    while size < len(needed_functions):
        size = len(needed_functions)
        for effect, assignment in assignments:
            read_functions = _list_read_functions(assignment.value)
            used_functions = {assignment.function, *read_functions}
            is_removable = (
                assignment.function not in needed_functions
                and assignment.function not in other_functions
                and written_functions.isdisjoint(read_functions)
                and (_is_unconditional(effect) or used_functions <= total_functions)
            )
            if not is_removable:
                needed_functions |= used_functions
    return _FunctionRemover(task, sorted(needed_functions), total_functions).reduce_task()


def _list_read_functions(expression: Expression) -> set[int]:
    return {fluent.function for fluent in expression_fluents(expression)}


def _is_unconditional(effect: Effect) -> bool:
    return effect.condition is TRUE and not effect.variables


def is_total(task: Task, function: int) -> bool:
    """Whether a function has a value for all objects of its types in the initial state (and so in every state)."""
    instances = prod([len(task.domains[domain]) for domain in task.functions[function].domains])
    return len(task.initial_fluents[function]) >= instances


class _FunctionRemover:
    """Removes the functions that are not needed, and gives the needed functions new numbers."""

    def __init__(self, task: Task, needed_functions: list[int], total_functions: set[int]) -> None:
        self.task = task
        self.needed_functions = needed_functions
        self.total_functions = total_functions
        self.new_numbers = {old: new for new, old in enumerate(needed_functions)}
        self.predicates = list(task.predicates)
        self.facts = list(task.initial_facts)
        self.facts += [set() for _ in range(len(self.predicates) - len(self.facts))]
        self.definedness_predicates: dict[int, int] = {}
        """By removed function, the predicate of the objects for which its number is defined."""

    def reduce_task(self) -> Task:
        """Make the task without the other functions."""
        task = self.task
        actions = {name: self._rewrite_action(action) for name, action in task.actions.items()}
        metric = task.metric
        if metric is not None:
            metric = metric._replace(expression=substitute_in_expression(metric.expression, {}, self.new_numbers))
        return task._replace(
            predicates=self.predicates,
            functions=[self._rewrite_function(task.functions[old]) for old in self.needed_functions],
            actions=actions,
            axioms=tuple([tuple(map(self._rewrite_axiom, stratum)) for stratum in task.axioms]),
            initial_facts=self.facts,
            initial_fluents=[task.initial_fluents[old] for old in self.needed_functions],
            goal=tuple([self._rewrite_formula(part) for part in task.goal]),
            metric=metric,
            static=[*task.static, *[True] * (len(self.predicates) - len(task.static))],
        )

    def _rewrite_function(self, function: Predicate) -> Predicate:
        is_original_cost = function.name == TOTAL_COST and function.node is not None
        return function._replace(name=f"{TOTAL_COST}-of-task") if is_original_cost else function

    def _rewrite_axiom(self, axiom: Axiom) -> Axiom:
        return axiom._replace(body=self._rewrite_formula(axiom.body))

    def _rewrite_formula(self, formula: Formula) -> Formula:
        return substitute(formula, {}, self.new_numbers)

    def _rewrite_action(self, action: Action) -> Action:
        condition = [self._rewrite_formula(part) for part in action.start.condition]
        effects = []
        for effect in action.start.effects:
            assignments = []
            for assignment in effect.assignments:
                if assignment.function in self.new_numbers:
                    value = substitute_in_expression(assignment.value, {}, self.new_numbers)
                    assignments.append(assignment._replace(function=self.new_numbers[assignment.function], value=value))
                else:
                    condition += self._require_defined(assignment)
            if assignments or effect.adds or effect.deletes:
                effect_condition = self._rewrite_formula(effect.condition)
                effects.append(effect._replace(condition=effect_condition, assignments=tuple(assignments)))
        return action._replace(start=action.start._replace(condition=tuple(condition), effects=tuple(effects)))

    def _require_defined(self, assignment: Assignment) -> Iterator[Formula]:
        """Yield the conditions that the numbers that a removed effect reads are defined."""
        target = Fluent(assignment.function, assignment.arguments)
        for fluent in (target, *expression_fluents(assignment.value)):
            if fluent.function not in self.total_functions:
                if fluent.function not in self.definedness_predicates:
                    declared = self.task.functions[fluent.function]
                    self.definedness_predicates[fluent.function] = len(self.predicates)
                    self.predicates.append(declared._replace(name=f"defined-{declared.name}", node=None))
                    self.facts.append(set(self.task.initial_fluents[fluent.function]))
                yield Atom(self.definedness_predicates[fluent.function], fluent.arguments)


def _is_additive(assignment: Assignment) -> bool:
    """Whether an effect only adds to its fluent, and its computation cannot fail on defined numbers."""
    return assignment.operator in ("increase", "decrease") and not has_division(assignment.value)
