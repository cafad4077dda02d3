"""A SAFE verdict does not depend on what an object of no known kind is (docs/worlds.md, section 5).

The definition is executed: the plan is judged by engine and kernel with each set of kinds for each class.
"""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plansafe.grammar.diagnostics import Label, Span
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Report
from plansafe.verifier.rules.home_profile import HomeProfile
from plansafe.verifier.rules.kinds import ClassKinds

DOMAIN = """(define (domain d) (:types thing - object known - thing) (:predicates (p ?x - thing) (q ?x ?y - thing))
  (:action m :parameters (?x - thing) :effect (p ?x))
  (:action n :parameters (?x ?y - thing) :effect (and (q ?x ?y) (not (p ?y)))))"""
PROBLEM = """(define (problem x) (:domain d)
  (:objects k - known odd_1 odd_2 strange - thing) (:init (p k)) (:goal (and)))"""
PLAN = "(n k odd_1)\n(m strange)\n(n odd_1 strange)\n(n odd_2 k)\n"
MAPPING = """(define (mapping m) (:specification s) (:domain d)
  (:types (thing thing) (red known) (blue) (green known))
  (:predicates ((lit ?x) (p ?x)) ((near ?x ?y) (or (q ?x ?y) (q ?y ?x))))
  (:actions ((touch ?x) (or (m ?x) (n ?x _)))))"""
VOCABULARY = """(:vocabulary (:types thing red blue - thing green - red)
  (:predicates (lit ?x - thing) (near ?x ?y - thing)) (:actions (touch ?x - thing)))"""
KINDS = ("red", "blue", "green")
CLASSES = ("odd", "strange")


@st.composite
def formula(draw: st.DrawFn, names: tuple[str, ...], depth: int = 2) -> str:
    """A state formula whose quantifiers range over kinds."""
    head = draw(st.sampled_from(("exists", "forall", "and", "or", "not", "atom") if depth else ("atom",)))
    if head in ("exists", "forall"):
        name = f"?v{depth}"
        return f"({head} ({name} - {draw(st.sampled_from(KINDS))}) {draw(formula((*names, name), depth - 1))})"
    if head == "atom":
        first, second = draw(st.sampled_from(names)), draw(st.sampled_from(names))
        return draw(st.sampled_from((f"(lit {first})", f"(near {first} {second})", f"(= {first} {second})")))
    parts = [draw(formula(names, depth - 1)) for _ in range(1 if head == "not" else 2)]
    return f"({head} {' '.join(parts)})"


@st.composite
def rule(draw: st.DrawFn, name: str) -> str:
    """A rule about things of a kind."""
    kind, key = draw(st.sampled_from(KINDS)), draw(st.sampled_from((":forbid", ":require")))
    demand = draw(formula(("?x",)))
    start = draw(st.sampled_from((":process", ":process-on", ":termination")))
    on = ":on (touch ?x)" if start == ":process-on" else ""
    return f"({start.partition('-')[0]} {name} :parameters (?x - {kind}) {on} {key} {demand})"


def audit(rules: str, *classes: tuple[str, tuple[str, ...]], replay: str = "always") -> Report:
    """The report with these kinds of classes, with SC901 if engine and kernel differ."""
    specs = [Source("s", f"(define (safety s) {VOCABULARY} {rules})"), Source("m", MAPPING)]
    home = Source("home.toml", "")
    entries = tuple([ClassKinds(name, kinds, "", Label(home.name, Span(0, 0))) for name, kinds in classes])
    options = Options(replay=replay, home=HomeProfile(home, classes=entries))
    checker = Checker(Source("d", DOMAIN), Source("x", PROBLEM), specs, options)
    assert checker.ok, checker.diagnostics
    return checker.check(Source("plan", PLAN))


def given_sets() -> list[tuple[str, ...]]:
    return [kinds for count in (1, 2, 3) for kinds in combinations(KINDS, count)]


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(first=rule("r1"), second=rule("r2"))
def test_a_plan_is_capped_if_and_only_if_some_kinds_break_a_rule(first: str, second: str) -> None:
    report = audit(first + second)
    assert report.headline is not None, report.diagnostics
    if report.headline.value not in ("SAFE", "VALID", "UNKNOWN"):
        return
    assert report.coverage is not None
    assert {unclassified.name for unclassified in report.coverage.unclassified} == set(CLASSES)
    harmless = [(name, ()) for name in CLASSES]
    assert audit(first + second, *harmless).headline.value in ("SAFE", "VALID")  # type: ignore[union-attr] - judged
    broken = set()
    for kinds in given_sets():
        for several in (("odd",), ("strange",), CLASSES):
            harmless_others = [(name, ()) for name in CLASSES if name not in several]
            classified = audit(first + second, *[(name, kinds) for name in several], *harmless_others)
            assert not [diagnostic for diagnostic in classified.diagnostics if diagnostic.code == "SC901"]
            broken |= {finding.rule for finding in classified.findings}
    assert (report.headline.value == "UNKNOWN") == bool(broken)  # type: ignore[union-attr] - judged
    suspected = {
        violation.rule
        for unclassified in report.coverage.unclassified
        for violation in unclassified.possible_violations
    }
    assert suspected <= broken
    assert bool(suspected) == bool(broken)


def test_the_question_is_asked_over_many_worlds() -> None:
    """Where a fact is open, the copies of the rules are judged in all worlds."""
    rules = "(:process dark :parameters (?x - red) :forbid (lit ?x))"
    problem = PROBLEM.replace("(p k)", "(unknown (q k k))")
    specs = [Source("s", f"(define (safety s) {VOCABULARY} {rules})"), Source("m", MAPPING)]
    checker = Checker(Source("d", DOMAIN), Source("x", problem), specs, Options())
    assert checker.is_open
    report = checker.check(Source("plan", PLAN))
    assert report.headline is not None
    assert report.headline.value == "UNKNOWN"
    assert report.coverage is not None
    assert [
        (unclassified.name, [violation.kinds for violation in unclassified.possible_violations])
        for unclassified in report.coverage.unclassified
    ] == [
        ("odd", []),
        ("strange", [("red",), ("green",)]),
    ]
