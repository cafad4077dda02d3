"""One random decision: cause and question against their definitions."""

from __future__ import annotations

import time
from typing import NamedTuple

from decision_definitions import decides, is_cause, is_question, suffices
from decision_random import Case, completions, random_case, worlds

from plansafe.verifier.symbolic.cause import minimal_cause
from plansafe.verifier.symbolic.circuit import Circuit
from plansafe.verifier.symbolic.completions import Completions
from plansafe.verifier.symbolic.decision import Opens, Partial
from plansafe.verifier.symbolic.question import question


class Compared(NamedTuple):
    problems: list[str]
    kinds: list[str]
    sizes: list[str]
    seconds: tuple[float, float]  # of the cause, of the question


def compared(seed: int, number: int, engine: str = "auto") -> Compared:
    """Compare one case. The question shares the searches of the cause in every other case."""
    case = random_case(seed, number)
    circuit = case.decision.circuit
    shared = Completions(case.decision, engine) if number % 4 < 2 else None
    begun = time.monotonic()
    cause = minimal_cause(case.decision, engine, completions=shared)
    between = time.monotonic()
    asked = question(case.decision, engine, completions=shared)
    seconds = between - begun, time.monotonic() - between
    if shared:
        shared.close()
    if cause.values is None:
        problems = (
            [] if all([good for _, good in completions(case)]) else ["a completion is bad, but there is no cause"]
        )
        return Compared(problems + question_problems(case, asked), ["all good"], [], seconds)
    values = named(circuit, cause.values)
    extra = {item: [value] for item, value in values.items() if isinstance(item, tuple)}
    known = completions(case, extra)
    problems = []
    if not is_cause(known, values):
        problems.append(f"not {'minimal' if suffices(known, values) else 'a cause'}: {values}")
    problems += question_problems(case, asked)
    kind = "some bad" if any([good for _, good in known]) else "all bad"
    sizes = [f"cause of {len(values)}"]
    if asked.asked:
        sizes.append(f"question of {len(items(circuit, asked.asked))}")
    return Compared(problems, [kind], sizes, seconds)


def question_problems(case: Case, asked) -> list[str]:
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
    all_worlds = worlds(case)
    in_bad = [o for o in all_worlds.outcomes if any([p and not g for p, g in o])]
    if asked.safe_in_bad != any([p and g for outcomes in in_bad for p, g in outcomes]):
        problems.append(f"safe worlds of bad completions: {asked.safe_in_bad}")
    return problems


def named(circuit: Circuit, partial: Partial) -> dict:
    """Input nodes and numbers with their values."""
    return {**{circuit.input(fact) >> 1: value for fact, value in partial.facts}, **dict(partial.numbers)}


def items(circuit: Circuit, opens: Opens) -> list:
    return [*[circuit.input(fact) >> 1 for fact in opens.facts], *opens.numbers]
