"""Equations of things that have no object in common are false, and only those: an object may be of two kinds."""

from __future__ import annotations

import pytest

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.compile.normal_forms import drop_impossible_equations
from plansafe.verifier.model.nodes import FALSE, TRUE, And, Atom, Equal, Not, Or, Quantified, Variable

DOMAIN = Source(
    "domain.pddl",
    """(define (domain d) (:types knife fork - object)
  (:predicates (sharp ?k - knife) (pointed ?f - fork))
  (:action whet :parameters (?k - knife) :effect (sharp ?k))
  (:action bend :parameters (?f - fork) :effect (pointed ?f)))""",
)
PROBLEM = Source(
    "problem.pddl",
    """(define (problem p) (:domain d)
  (:objects blade - knife prong - fork spork - (either knife fork)) (:init) (:goal (and)))""",
)
CASES = """(or (exists (?k - knife) (and (= ?k ?x) (sharp ?k)))
               (exists (?f - fork) (and (= ?f ?x) (pointed ?f))))"""


@pytest.mark.parametrize("kind", ["knife", "fork", "object"])
def test_the_same_findings_as_the_definition(kind: str) -> None:
    rules = Source(
        "rules.safe",
        f"""(define (safety s)
  (:process state :parameters (?x - {kind}) :forbid {CASES})
  (:process neither :parameters (?x - {kind}) :require (not {CASES}))
  (:process sure :parameters (?x - {kind}) :on (whet ?k) :forbid-after (and (= ?x ?k) {CASES})))""",
    )
    checker = Checker(DOMAIN, PROBLEM, [rules])
    plan = Source("plan", "(whet blade) (bend prong) (bend spork)")
    report = checker.check(plan)
    broken = {(finding.rule, dict(finding.binding)["?x"], finding.step) for finding in report.findings}
    violations = {"knife": {("blade", 1), ("spork", 3)}, "fork": {("prong", 2), ("spork", 3)}}
    expected = violations.get(kind, violations["knife"] | violations["fork"])
    assert broken == {
        *[(rule, x, step) for rule in ("state", "neither") for x, step in expected],
        *[("sure", x, 1) for x, _ in expected if x == "blade"],
    }
    assert all(finding.replayed for finding in report.findings)


def test_impossible_equations_are_dropped() -> None:
    members = [(0, 1), (2,), (1, 2)]
    left, right, both = Variable(0, 0, "?l"), Variable(1, 1, "?r"), Variable(2, 2, "?b")
    domains = {0: 0, 1: 1, 2: 2}
    never, maybe, fact = Equal(-1, -2), Equal(-1, -3), Atom(0, (-1,))
    assert drop_impossible_equations(never, domains, members) == FALSE
    assert drop_impossible_equations(Equal(2, -1), domains, members) == FALSE
    assert drop_impossible_equations(maybe, domains, members) == maybe
    assert drop_impossible_equations(Equal(-1, -9), domains, members) == Equal(-1, -9)
    assert drop_impossible_equations(And((fact, never)), domains, members) == FALSE
    assert drop_impossible_equations(Or((fact, never)), domains, members) == Or((fact,))
    assert drop_impossible_equations(Or((fact, Not(never))), domains, members) == TRUE
    assert drop_impossible_equations(Quantified(False, (right,), And((never, fact))), {0: 0}, members) == FALSE
    possible = Quantified(False, (both,), maybe)
    assert drop_impossible_equations(possible, {0: 0}, members) == possible
    universal = Quantified(True, (left,), Or((fact, Not(never))))
    assert drop_impossible_equations(universal, {1: 1}, members) == TRUE
    # this function does not know whether the domain has objects
    assert drop_impossible_equations(Quantified(False, (right,), Not(never)), {0: 0}, members) == Quantified(
        False, (right,), TRUE
    )
