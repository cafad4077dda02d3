"""One random decision: cause and question against their definitions."""

from __future__ import annotations

import random
import time
from typing import NamedTuple

from decision_definitions import decides, is_cause, is_question, suffices
from decision_random import Case, completions, random_case, worlds

from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.symbolic.circuits.circuit import Circuit
from plansafe.verifier.symbolic.worlds.completions import (
    CompletionSearch,
    DecisionProblem,
    OpenVariables,
    PartialAssignment,
)
from plansafe.verifier.symbolic.worlds.explanation import Cause, find_minimal_cause
from plansafe.verifier.symbolic.worlds.question import Question, find_question


class Compared(NamedTuple):
    problems: list[str]
    kinds: list[str]
    sizes: list[str]
    seconds: tuple[float, float]  # of the cause, of the question


def cause_of(
    problem: DecisionProblem,
    engine: str = "auto",
    search: CompletionSearch | None = None,
    deadline: float | None = None,
    **options: object,
) -> Cause:
    """The minimal cause of a decision problem, found with a search of its own unless one is given."""
    cause_search = search or CompletionSearch(problem, engine, deadline)
    try:
        return find_minimal_cause(cause_search, **options)
    finally:
        if search is None:
            cause_search.close()


def question_of(
    problem: DecisionProblem,
    engine: str = "auto",
    search: CompletionSearch | None = None,
    deadline: float | None = None,
    **options: object,
) -> Question:
    """The question of a decision problem, found with a search of its own unless one is given."""
    question_search = search or CompletionSearch(problem, engine, deadline)
    try:
        return find_question(question_search, **options)
    finally:
        if search is None:
            question_search.close()


def compared(seed: int, number: int, engine: str = "auto") -> Compared:
    """Compare one case. Some share solvers, some give the world of the cause, some prefer some of what is open."""
    rng = random.Random(f"comparison {seed} {number}")
    case = random_case(seed, number)
    circuit = case.decision.circuit
    given = [*case.decision.facts, *case.decision.numbers]
    prefer = rng.sample(given, rng.randint(0, len(given))) if rng.random() < 0.4 else []
    known = completions(case)
    bad = [values for values, good in known if not good]
    start = rng.choice(bad) if bad and rng.random() < 0.4 else None
    shared = CompletionSearch(case.decision, engine) if rng.random() < 0.5 else None
    begun = time.monotonic()
    cause = cause_of(case.decision, engine, shared, prefer=prefer, world=start and world(circuit, start))
    between = time.monotonic()
    asked = question_of(case.decision, engine, shared, prefer=prefer)
    seconds = between - begun, time.monotonic() - between
    if shared:
        shared.close()
    problems = question_problems(case, asked, prefer)
    if cause.values is None:
        if bad or cause.note != "no completion is bad":
            problems.append(f"no cause: {cause.note}")
        return Compared(problems, ["all good"], [], seconds)
    values = named(circuit, cause.values)
    refined = completions(case, {item: [value] for item, value in values.items() if isinstance(item, tuple)})
    if not is_cause(refined, values):
        problems.append(f"not {'minimal' if suffices(refined, values) else 'a cause'}: {values}")
    if start:
        if any([start[item] != value for item, value in values.items()]):
            problems.append(f"the cause {values} is not from the world {start}")
        if prefer and suffices(known, {item: start[item] for item in prefer}) and not set(values) <= set(prefer):
            problems.append(f"the cause {values} is not of {prefer}, which suffice in {start}")
    sizes = [f"cause of {len(values)}"]
    if asked.asked:
        sizes.append(f"question of {len(items(circuit, asked.asked))}")
    return Compared(problems, ["all bad" if len(bad) == len(known) else "some bad"], sizes, seconds)


def world(circuit: Circuit, values: dict) -> Completion:
    """A world with these values of what is open."""
    facts = [circuit.keys[item] for item, value in values.items() if value is True]
    numbers = {item: value for item, value in values.items() if isinstance(item, tuple)}
    return Completion(frozenset([(fact.predicate, fact.code) for fact in facts]), numbers, {})


def question_problems(case: Case, asked: Question, prefer: list) -> list[str]:
    known = completions(case)
    bad = [good for _, good in known].count(False)
    if bad in (0, len(known)):
        safe = any([any([p and g for p, g in outcomes]) for outcomes in worlds(case).outcomes])
        notes = {0: "no completion is bad"}
        expected = (
            notes.get(bad) or f"every completion is bad: {'outcomes alone decide' if safe else 'no world is safe'}"
        )
        return [] if (asked.asked, asked.note) == (None, expected) else [f"{asked.note!r}, expected {expected!r}"]
    if asked.asked is None:
        return [f"no question: {asked.note}"]
    found = items(case.decision.circuit, asked.asked)
    problems = []
    if not is_question(known, found):
        problems.append(f"not {'minimal' if decides(known, found) else 'a question'}: {found}")
    if prefer and decides(known, prefer) and not set(found) <= set(prefer):
        problems.append(f"the question {found} is not of {prefer}, which suffice")
    all_worlds = worlds(case)
    in_bad = [o for o in all_worlds.outcomes if any([p and not g for p, g in o])]
    if asked.safe_in_bad != any([p and g for outcomes in in_bad for p, g in outcomes]):
        problems.append(f"safe worlds of bad completions: {asked.safe_in_bad}")
    return problems


def named(circuit: Circuit, partial: PartialAssignment) -> dict:
    """Input nodes and numbers with their values."""
    return {**{circuit.input(fact) >> 1: value for fact, value in partial.facts}, **dict(partial.numbers)}


def items(circuit: Circuit, opens: OpenVariables) -> list:
    return [*[circuit.input(fact) >> 1 for fact in opens.facts], *opens.numbers]
