"""The verdict before and after the kernel was asked: the same, but for the second opinion."""

from __future__ import annotations

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker

DOMAIN = "(define (domain d) (:predicates (p)) (:action a :precondition (p) :effect (not (p))))"
PROBLEM = "(define (problem q) (:domain d) (:init (p)) (:goal (p)))"


def test_without_confirmation_only_the_second_opinion_is_missing() -> None:
    checker = Checker(Source("d.pddl", DOMAIN), Source("p.pddl", PROBLEM))
    plan = Source("a.plan", "(a) (a)")
    first, second = checker.check(plan, confirm=False), checker.check(plan)
    assert {finding.replayed for finding in first.findings} == {None}
    assert {finding.replayed for finding in second.findings} == {True}
    assert first.findings == tuple([finding._replace(replayed=None) for finding in second.findings])
    assert (first.headline, first.goal, first.safe) == (second.headline, second.goal, second.safe)


def test_the_last_report_is_remembered_for_the_same_plan_and_confirmation() -> None:
    checker = Checker(Source("d.pddl", DOMAIN), Source("p.pddl", PROBLEM))
    plan, longer = Source("a.plan", "(a)"), Source("a.plan", "(a) (a)")
    first = checker.check(plan)
    assert checker.check(plan) is first
    assert checker.check(plan, confirm=False) is not first
    assert checker.check(longer).executable is not first.executable
    assert checker.check(plan) == first
