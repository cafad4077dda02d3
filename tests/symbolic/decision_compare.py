"""Compare the cause and the question of a random decision with their definitions."""

from __future__ import annotations

import random
import time
from typing import NamedTuple

from decision_definitions import determines_quality, implies_bad, is_cause, is_question
from decision_random import Decision, DecisionCase, enumerate_completions, enumerate_worlds, random_case

from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.symbolic.circuits.circuit import Circuit
from plansafe.verifier.symbolic.circuits.solvers import Model
from plansafe.verifier.symbolic.worlds.completions import (
    CompletionSearch,
)
from plansafe.verifier.symbolic.worlds.explanation import Cause, find_minimal_cause
from plansafe.verifier.symbolic.worlds.question import TOO_MANY_FACTS_NOTE, Question, find_question


class DecisionComparison(NamedTuple):
    problems: list[str]
    kinds: list[str]
    sizes: list[str]
    seconds: tuple[float, float]  # of the cause, of the question


def find_cause(
    problem: Decision,
    engine: str = "auto",
    search: CompletionSearch | None = None,
    deadline: float | None = None,
    **options: object,
) -> Cause:
    """The minimal cause of a decision problem, found with a search of its own unless one is given."""
    cause_search = search or CompletionSearch(*problem[:3], engine, deadline)
    try:
        return find_minimal_cause(cause_search, **options)
    finally:
        if search is None:
            cause_search.close()


def ask_question(
    problem: Decision,
    engine: str = "auto",
    search: CompletionSearch | None = None,
    deadline: float | None = None,
    **options: object,
) -> Question:
    """The question of a decision problem, found with a search of its own unless one is given."""
    question_search = search or CompletionSearch(*problem[:3], engine, deadline)
    try:
        return find_question(question_search, **options)
    finally:
        if search is None:
            question_search.close()


def compare_decision(seed: int, number: int, engine: str = "auto") -> DecisionComparison:
    """Compare one case. In some cases the two searches share a solver, in some the cause starts from a given world."""
    rng = random.Random(f"comparison {seed} {number}")
    case = random_case(seed, number)
    circuit = case.decision.circuit
    all_completions = enumerate_completions(case)
    bad_completions = [values for values, good in all_completions if not good]
    bad_values = rng.choice(bad_completions) if bad_completions and rng.random() < 0.4 else None
    good_completions = [values for values, good in all_completions if good]
    good_model = to_model(rng.choice(good_completions)) if good_completions and rng.random() < 0.5 else None
    shared_search = None
    if good_model is not None or rng.random() < 0.3:
        shared_search = CompletionSearch(*case.decision[:3], engine, good_model=good_model)
    started = time.monotonic()
    cause = find_cause(case.decision, engine, shared_search, world=bad_values and to_completion(circuit, bad_values))
    cause_found_at = time.monotonic()
    question = ask_question(case.decision, engine, shared_search)
    seconds = cause_found_at - started, time.monotonic() - cause_found_at
    max_facts = rng.randint(0, 3)
    short_question = ask_question(case.decision, engine, shared_search, max_facts=max_facts)
    if shared_search:
        shared_search.close()
    problems = list_question_errors(case, question)
    if short_question.note.startswith(TOO_MANY_FACTS_NOTE):
        if question.variables is None or len(question.variables) <= max_facts:
            problems.append(f"{short_question.note!r}, but there is {question}")
    else:
        problems += list_question_errors(case, short_question)
    if cause.values is None:
        if bad_completions or cause.note != "no completion is bad":
            problems.append(f"no cause: {cause.note}")
        return DecisionComparison(problems, ["all good"], [], seconds)
    values = cause.values
    refined_completions = enumerate_completions(
        case, {variable: [value] for variable, value in values.items() if isinstance(variable, tuple)}
    )
    if not is_cause(refined_completions, values):
        problems.append(f"not {'minimal' if implies_bad(refined_completions, values) else 'a cause'}: {values}")
    if bad_values and any([bad_values[variable] != value for variable, value in values.items()]):
        problems.append(f"the cause {values} is not from the world {bad_values}")
    sizes = [f"cause of {len(values)}"]
    if question.variables:
        sizes.append(f"question of {len(question.variables)}")
    return DecisionComparison(
        problems, ["all bad" if len(bad_completions) == len(all_completions) else "some bad"], sizes, seconds
    )


def to_model(values: dict) -> Model:
    """The model with these values of open facts and numbers."""
    return Model(*[{v: value for v, value in values.items() if isinstance(v, kind)} for kind in (int, tuple)])


def to_completion(circuit: Circuit, values: dict) -> Completion:
    """The completion with these values of open facts and numbers."""
    facts = [circuit.keys[variable] for variable, value in values.items() if value is True]
    numbers = {variable: value for variable, value in values.items() if isinstance(variable, tuple)}
    return Completion(frozenset([(fact.predicate, fact.code) for fact in facts]), numbers, {})


def list_question_errors(case: DecisionCase, question: Question) -> list[str]:
    all_completions = enumerate_completions(case)
    bad_count = [good for _, good in all_completions].count(False)
    if bad_count in (0, len(all_completions)):
        has_safe_world = any([any(outcomes) for outcomes in enumerate_worlds(case).outcomes])
        notes = {0: "no completion is bad"}
        expected = (
            notes.get(bad_count)
            or f"every completion is bad: {'outcomes alone decide' if has_safe_world else 'no world is safe'}"
        )
        return (
            []
            if (question.variables, question.note) == (None, expected)
            else [f"{question.note!r}, expected {expected!r}"]
        )
    if question.variables is None:
        return [f"no question: {question.note}"]
    variables = question.variables
    problems = []
    if not is_question(all_completions, variables):
        problems.append(
            f"not {'minimal' if determines_quality(all_completions, variables) else 'a question'}: {variables}"
        )
    return problems
