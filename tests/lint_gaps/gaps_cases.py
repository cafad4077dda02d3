"""Specifications with one rule deleted, and what a search for gaps makes of them.

A case is a rule of a shipped specification and the problem of that rule's own cases. The rule is deleted, and what is
left is written out as plain rules: no vocabulary, no template, nothing that would still speak of what is gone.
The search sees that text, the domain and the problem. The rule and its cases are looked at afterwards.
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
    """A rule that is deleted, and its problem with plans that break (``breaks*``) and keep (``keeps*``) it.

    ``specs`` are the names of the specifications. ``examples`` are plans that the search is given.
    """

    group: str
    rule: str
    domain: Path
    specs: tuple[str, ...]
    problem: Source
    plans: tuple[tuple[str, str], ...]
    examples: tuple[Path, ...] = ()


class CaseOutcome(NamedTuple):
    """How one case ended: the first gap (from 1) of each kind, ``None`` if there is none.

    ``revealed``: its plan breaks the rule that was deleted. ``caught``: its proposed rule is broken by a plan that was
    written to break the deleted one. ``restored``: .. and kept by all plans that were written to keep it.
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
    """The portable rules, in the world of their own ontology."""
    return _of_files("home", "home", "ontology", CONTENT / "home" / "ontology.pddl", ("home",))


def mapped() -> list[Case]:
    """The portable rules, in the household domain through their mapping."""
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
"""The rules that random detours from a safe plan of an example break, one alone at a time (``detours.py``)."""
SAFE_PLANS = {"breakfast": "tea-and-apple", "cleaning": "saturday", "dinner": "stew-and-salad"}


def examples() -> list[Case]:
    """The rules that can be broken in the larger problems of ``examples``, with the safe plan that is there, if any."""
    domain, found = Path(domain_path("household")), []
    for name, rules in BREAKABLE.items():
        folder = EXAMPLES / name
        problem = source(folder / "problem.pddl")
        plans = tuple([(path.stem, path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.plan"))])
        given = (folder / f"{SAFE_PLANS[name]}.plan",) if name in SAFE_PLANS else ()
        found += [Case("examples", rule, domain, ("household",), problem, plans, given) for rule in rules.split()]
    return found


def fifty() -> list[Case]:
    """The rules of the household specification, alone and in the examples, and portable ones drawn at random."""
    first = [*household(), *examples()]
    return first + random.Random(50).sample(mapped(), 50 - len(first))


def fresh(seed: int = 2026) -> list[Case]:
    """Fifty others: the portable rules that are not among the fifty, in the household domain and in their own world."""
    known = fifty()
    left = [case for case in mapped() if case not in known]
    return left + random.Random(seed).sample(home(), 50 - len(left))


# -- running one ------------------------------------------------------------------------------------------------------


def source(path: Path) -> Source:
    """A file."""
    return Source(str(path), path.read_text(encoding="utf-8"))


def shipped(name: str, _: Source) -> Source | None:
    """A specification that another one extends."""
    try:
        return source(Path(spec_path(name)))
    except KeyError:
        return None


def full(case: Case) -> Checker:
    """The whole specification."""
    specs = [source(Path(spec_path(name))) for name in case.specs]
    return Checker(source(case.domain), case.problem, specs, NEVER, shipped)


def without(checker: Checker, rule: str | None) -> Source:
    """The plain rules of a specification that apply, but one."""
    applicable = {r.name for r in checker.rules if r.applicable}
    rules = [
        format_node(r.node) for r in checker.compiled.expanded.rules if r.node[1] in applicable and r.node[1] != rule
    ]
    return Source("given.safe", "(define (safety given)\n" + "\n".join(rules) + ")")


def search(case: Case, deleted: bool, options: GapOptions, library: tuple[str, ...] = ()) -> GapsResult:
    """The gaps of a case, of the whole specification unless ``deleted``."""
    given = without(full(case), case.rule if deleted else None)
    problem = case.problem
    texts = [source(Path(spec_path(name))) for name in library]
    plans = [source(path) for path in case.examples]
    return find_gaps(
        source(case.domain), [problem], [given], examples=plans, library=texts, options=options, resolve=shipped
    )


def judge(case: Case, options: GapOptions, library: tuple[str, ...] = ()) -> CaseOutcome:
    """Delete the rule, search, and compare with the rule and its plans."""
    started = process_time()
    result = search(case, True, options, library)
    seconds = process_time() - started
    whole = full(case)
    first: dict[str, int] = {}
    for number, gap in enumerate(result.gaps, 1):
        if case.rule in broken(whole, "\n".join(gap.plan)):
            first.setdefault("revealed", number)
        caught, kept = separates(case, gap)
        if caught:
            first.setdefault("caught", number)
            if kept:
                first.setdefault("restored", number)
    found = [first.get(word) for word in ("revealed", "caught", "restored")]
    return CaseOutcome(case, *found, result.gaps, result.explored, seconds)


def broken(checker: Checker, plan: str) -> set[str | None]:
    """The rules that a plan breaks."""
    return {f.rule for f in checker.check(Source("plan", plan)).findings if f.rule}


def separates(case: Case, gap: Gap) -> tuple[bool, bool]:
    """Whether a proposed rule is broken by a plan that breaks the deleted one, and kept by those that keep it."""
    if not gap.code:
        return False, False  # a baseline proposes no rules
    alone = Source("proposed.safe", f"(define (safety proposed) {gap.rule})")
    checker = Checker(source(case.domain), case.problem, [alone], NEVER)
    assert checker.ok, checker.diagnostics
    plans = [(name, bool(broken(checker, text))) for name, text in case.plans]
    breaks = any([bad for name, bad in plans if name.startswith("breaks")])
    return breaks, not any([bad for name, bad in plans if name.startswith("keeps")])
