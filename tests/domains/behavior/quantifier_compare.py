"""Evaluate a random goal by its translation, by the definition, and by the package ``bddl`` if installed."""

from __future__ import annotations

from quantifier_cases import SMALL_DOMAIN, Case, holds

from plansafe.domains.behavior.bddl import read_activity
from plansafe.domains.behavior.task import scene_of
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Headline

SMALL = Source("small.pddl", SMALL_DOMAIN)


def translated(case: Case) -> bool:
    """Return whether the checker finds that the translated goal holds in the state."""
    source = Source("random.bddl", case.text())
    activity, context = read_activity(source)
    assert activity is not None, [note.message for note in context.diagnostics]
    scene = scene_of(activity, context, source)
    assert scene.ok, [note.message for note in scene.notes]
    checker = Checker(SMALL, scene.problem)
    assert checker.ok, ([note.message for note in checker.diagnostics], scene.problem.text)
    return checker.check(Source("empty", "")).headline is Headline.VALID


def defined(case: Case) -> bool:
    """Return whether the goal holds by definition."""
    return holds(case.goal, {}, case)


def evaluated_by_bddl(case: Case) -> bool:
    """Return whether the goal holds for the package ``bddl`` (3.6). Raises ImportError without it."""
    from bddl.activity import Conditions, get_goal_conditions, get_object_scope
    from bddl.logic_base import BinaryAtomicFormula, UnaryAtomicFormula

    facts = case.facts

    class Backend:
        def get_predicate_class(self, name: str) -> type:
            def evaluate_unary(self, argument: str) -> bool:
                return (name, argument) in facts

            def evaluate_binary(self, first: str, second: str) -> bool:
                return (name, first, second) in facts

            unary = name in ("open", "toggled_on")
            base, test = (UnaryAtomicFormula, evaluate_unary) if unary else (BinaryAtomicFormula, evaluate_binary)
            body = {"STATE_NAME": name, "_evaluate": test, "_sample": None}
            return type(name, (base,), body)

    if case.goal == ["and"]:
        return True  # bddl cannot read this goal
    conditions = Conditions("random", 0, "omnigibson", predefined_problem=case.text())
    scope = get_object_scope(conditions)
    compiled = get_goal_conditions(conditions, Backend(), scope, generate_ground_options=False)
    for name in scope:
        scope[name] = name
    for condition in compiled or []:
        _fill(condition, {name: name for name in scope})
    return all(bool(condition.evaluate()) for condition in compiled or [])


def _fill(node: object, objects: dict[str, str]) -> None:
    """Bind the instances in every copy of the scope: ``bddl`` copies it for each quantifier."""
    waiting = [node]
    while waiting:
        at = waiting.pop()
        if isinstance(at, list):
            waiting.extend(at)
            continue
        for name in objects:
            if at.scope.get(name) is None:
                at.scope[name] = objects[name]
        waiting.extend(at.children)
