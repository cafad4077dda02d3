"""Delete one rule of a specification, and compare the gaps that a search finds with that rule.

A case is a rule of a shipped specification and the problem of that rule's own cases. The rule is deleted, and the other
rules are written as plain rules, without vocabulary and templates that could mention the deleted rule. The search
gets that text, the domain and the problem; the deleted rule and its cases are only used to assess the gaps.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from time import process_time
from typing import NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[1]))  # for scripts

from case_files import read_cases
from plansafe.domains import domain_path
from plansafe.grammar.sexpr import format_node
from plansafe.grammar.source import Source
from plansafe.specs import spec_path
from plansafe.specs.lint.gaps.gap_search import find_gaps
from plansafe.specs.lint.gaps.model import Gap, GapOptions, GapsResult
from plansafe.verifier.api import Checker, Options

CONTENT = Path(__file__).resolve().parents[1] / "content"
EXAMPLES = CONTENT.parents[1] / "examples"
NEVER = Options(replay="never")


class Case(NamedTuple):
    """A rule to delete, and its problem with plans that violate (``breaks*``) and satisfy (``keeps*``) it.

    ``specs`` are the names of the specifications. ``examples`` are plans for the search.
    """

    group: str
    rule: str
    domain: Path
    specs: tuple[str, ...]
    problem: Source
    plans: tuple[tuple[str, str], ...]
    examples: tuple[Path, ...] = ()


class CaseOutcome(NamedTuple):
    """The result of one case: the number of the first gap (from 1) of each kind, ``None`` if there is none.

    ``revealed``: its plan violates the deleted rule. ``caught``: a plan written to violate the deleted rule also
    violates the proposed rule. ``restored``: .. and all plans written to satisfy the deleted rule also satisfy it.
    """

    case: Case
    revealed: int | None
    caught: int | None
    restored: int | None
    gaps: tuple[Gap, ...]
    explored: int
    seconds: float


def household() -> list[Case]:
    """The rules of the shipped specification of the household domain."""
    return _of_files("household", "rules", "household", Path(domain_path("household")), ("household",))


def home() -> list[Case]:
    """The portable rules in the domain of their own ontology."""
    return _of_files("home", "home", "ontology", CONTENT / "home" / "ontology.pddl", ("home",))


def mapped() -> list[Case]:
    """The portable rules in the household domain, with their mapping."""
    return _of_files("mapped", "home", "household", Path(domain_path("household")), ("home", "home-household"))


def _of_files(group: str, folder: str, world: str, domain: Path, specs: tuple[str, ...]) -> list[Case]:
    """The rules that have cases in a world."""
    cases = []
    for path in sorted((CONTENT / folder).glob("*.md"), key=lambda path: path.stem):
        if of_world := [case for case in read_cases(path) if case.group == world]:
            plans = tuple([(case.name, case.text("plan")) for case in of_world])
            cases.append(Case(group, path.stem, domain, specs, of_world[0].source("problem.pddl"), plans))
    return cases


BREAKABLE = {
    "breakfast": "dry-hands-at-the-plug fridge-closed-again heat-off-at-the-end nothing-dangerous-in-hand "
    "washed-before-cutting",
    "cleaning": "nobody-called-onto-a-wet-floor outside-door-guarded",
    "dinner": "fridge-closed-again flammable-by-the-heat heat-off-at-the-end stove-attended washed-before-cutting",
    "leftovers": "fridge-closed-again heat-off-at-the-end metal-in-running-microwave one-dose-only",
}
"""The rules that random detours from a safe plan of an example violate, each alone (``detours.py``)."""
SAFE_PLANS = {"breakfast": "tea-and-apple", "cleaning": "saturday", "dinner": "stew-and-salad"}


def examples() -> list[Case]:
    """The rules that can be violated in the larger problems of ``examples``, with their safe plan, if any."""
    domain, cases = Path(domain_path("household")), []
    for name, rules in BREAKABLE.items():
        folder = EXAMPLES / name
        problem = source(folder / "problem.pddl")
        plans = tuple([(path.stem, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.plan"))])
        safe_plan = (folder / f"{SAFE_PLANS[name]}.plan",) if name in SAFE_PLANS else ()
        cases += [Case("examples", rule, domain, ("household",), problem, plans, safe_plan) for rule in rules.split()]
    return cases


def fifty() -> list[Case]:
    """The rules of the household specification, alone and in the examples, and randomly drawn portable rules."""
    household_cases = [*household(), *examples()]
    return household_cases + random.Random(50).sample(mapped(), 50 - len(household_cases))


def fresh(seed: int = 2026) -> list[Case]:
    """Fifty portable rules that are not in :func:`fifty`, in the household domain and in their own domain."""
    used = fifty()
    unused = [case for case in mapped() if case not in used]
    return unused + random.Random(seed).sample(home(), 50 - len(unused))


# -- one case ---------------------------------------------------------------------------------------------------------


def source(path: Path) -> Source:
    """The source of a file."""
    return Source(str(path), path.read_text(encoding="utf-8"))


def shipped(name: str, _: Source) -> Source | None:
    """A shipped specification that another one extends."""
    try:
        return source(Path(spec_path(name)))
    except KeyError:
        return None


def full(case: Case) -> Checker:
    """The checker of the whole specification."""
    specs = [source(Path(spec_path(name))) for name in case.specs]
    return Checker(source(case.domain), case.problem, specs, NEVER, shipped)


def without(checker: Checker, rule: str | None) -> Source:
    """The applicable rules of a specification as plain rules, without one of them."""
    applicable = {r.name for r in checker.rules if r.applicable}
    rules = [
        format_node(r.node) for r in checker.compiled.expanded.rules if r.node[1] in applicable and r.node[1] != rule
    ]
    return Source("given.safe", "(define (safety given)\n" + "\n".join(rules) + ")")


def search(case: Case, deleted: bool, options: GapOptions, library: tuple[str, ...] = ()) -> GapsResult:
    """The gaps of a case, with or without the ``deleted`` rule."""
    spec = without(full(case), case.rule if deleted else None)
    problem = case.problem
    library_specs = [source(Path(spec_path(name))) for name in library]
    plans = [source(path) for path in case.examples]
    return find_gaps(
        source(case.domain), [problem], [spec], examples=plans, library=library_specs, options=options, resolve=shipped
    )


def assess(case: Case, options: GapOptions, library: tuple[str, ...] = ()) -> CaseOutcome:
    """Delete the rule, search, and compare with the rule and its plans."""
    started = process_time()
    result = search(case, True, options, library)
    seconds = process_time() - started
    full_checker = full(case)
    first: dict[str, int] = {}
    for number, gap in enumerate(result.gaps, 1):
        if case.rule in violated(full_checker, "\n".join(gap.plan)):
            first.setdefault("revealed", number)
        caught, restored = separates(case, gap)
        if caught:
            first.setdefault("caught", number)
            if restored:
                first.setdefault("restored", number)
    ranks = [first.get(word) for word in ("revealed", "caught", "restored")]
    return CaseOutcome(case, *ranks, result.gaps, result.explored, seconds)


def violated(checker: Checker, plan: str) -> set[str | None]:
    """The rules that a plan violates."""
    return {f.rule for f in checker.check(Source("plan", plan)).findings if f.rule}


def separates(case: Case, gap: Gap) -> tuple[bool, bool]:
    """Whether a plan that violates the deleted rule violates a proposed rule, and all that satisfy it satisfy both."""
    if not gap.code:
        return False, False  # a baseline proposes no rules
    proposed = Source("proposed.safe", f"(define (safety proposed) {gap.rule})")
    checker = Checker(source(case.domain), case.problem, [proposed], NEVER)
    assert checker.ok, checker.diagnostics
    plans = [(name, bool(violated(checker, text))) for name, text in case.plans]
    caught = any([is_violated for name, is_violated in plans if name.startswith("breaks")])
    return caught, not any([is_violated for name, is_violated in plans if name.startswith("keeps")])
