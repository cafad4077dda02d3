"""Generic operations over formulas, compared with the evaluator on every state formula of the golden cases."""

from __future__ import annotations

from collections.abc import Iterator

from golden import read_cases

from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import Binding, Formula, Task
from plansafe.verifier.model.operations import Leaf, fold_formula, is_temporal


def conditions(task: Task) -> Iterator[tuple[Formula, Binding]]:
    """The state formulas of a task, each with its first binding."""
    for formula in task.goal:
        yield formula, {}
    for action in task.actions.values():
        binding = next(task.bindings(action.parameters, {}), None)
        if binding is not None:
            yield from [(formula, binding) for formula in action.start.condition]


def test_a_fold_gives_the_values_of_the_evaluator() -> None:
    compared = 0
    for case in read_cases():
        checker = case.checker()
        if not checker.ok:
            continue
        task = checker.compiled.task
        evaluator = Evaluator(task, task.initial_facts, task.initial_fluents)

        def leaf(part: Leaf, binding: Binding, positive: bool, evaluator: Evaluator = evaluator) -> bool | None:
            value = evaluator.holds(part, binding)
            return None if value is None else value is positive

        def join(values: Iterator[bool | None], is_conjunction: bool) -> bool | None:
            collected = list(values)
            if (not is_conjunction) in collected:
                return not is_conjunction
            return None if None in collected else is_conjunction

        for formula, binding in conditions(task):
            if is_temporal(formula):
                continue
            value = evaluator.holds(formula, binding)
            assert fold_formula(task, formula, binding, True, leaf, join) is value
            negated = fold_formula(task, formula, binding, False, leaf, join)
            assert negated is (None if value is None else not value)
            compared += 1
    assert compared > 30
