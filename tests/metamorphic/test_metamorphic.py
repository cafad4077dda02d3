"""Rewritings that keep the meaning of a task keep its verdict; ``run.py`` compares many more."""

from __future__ import annotations

from random import Random

import pytest
from inputs import parsed, random_task, repairable_task, shipped_plans, shipped_task
from metamorphic_task import Task
from rewriting_cases import examine, find_rewriting, reproduction
from rewritings import REWRITINGS, Rewriting
from rewritings.connectives import DUALS
from traversal import is_quantifier, map_formulas
from verdicts import EVERYTHING, Judge, Names, differences

from plansafe.grammar.source import Source
from quick import quick_every

SEED = 26
CASES = 2  # for each rewriting
MOST_TASKS = 60  # to find these in
CONTINUOUS = {"bathtub", "battery", "kettle"}
"""Examples in continuous time, which `tests/continuous` rewrites."""
EXAMPLES = [
    path
    for path in shipped_plans()
    if "examples" in path.parts and path.suffix == ".plan" and path.parent.name not in CONTINUOUS
]
NAMES = [rewriting.name for rewriting in REWRITINGS]


@pytest.mark.parametrize("name", quick_every(6, NAMES))
def test_random_tasks(name: str) -> None:
    rewriting = find_rewriting(name)
    applied = 0
    first = NAMES.index(name)
    for number in range(first, first + MOST_TASKS):
        task = random_task(SEED, number)
        outcome = examine(task, rewriting, SEED)
        applied += outcome.applied
        if outcome.problems:
            pytest.fail(reproduction(task, rewriting, SEED, outcome.problems[0]), pytrace=False)
        if applied == CASES:
            return
    pytest.fail(f"{name} was applied to {applied} of {MOST_TASKS} tasks")


@pytest.mark.parametrize("number", quick_every(6, range(len(EXAMPLES))), ids=[path.stem for path in EXAMPLES])
def test_shipped_examples(number: int) -> None:
    task = shipped_task(EXAMPLES[number])
    judge = Judge(task)
    for rewriting in REWRITINGS[number % 19 :: 19]:
        assert examine(task, rewriting, SEED, judge=judge).problems == (), rewriting.name


@pytest.mark.parametrize("number", quick_every(4, range(8)))
def test_costs_of_repairs(number: int) -> None:
    task, most_cost = repairable_task(SEED, number)
    judge = Judge(task)
    for rewriting in REWRITINGS[number::8]:
        assert examine(task, rewriting, SEED, most_cost, judge).problems == (), rewriting.name


def test_a_wrong_rewriting_is_found() -> None:
    def quantifiers_exchanged(task: Task, random: Random) -> Task:
        return map_formulas(task, lambda tree, _: (DUALS[tree[0]], *tree[1:]) if is_quantifier(tree) else tree)

    wrong = Rewriting("quantifiers_exchanged", quantifiers_exchanged, EVERYTHING, False)
    assert any(examine(random_task(SEED, number), wrong, SEED).problems for number in range(8))


def test_a_lost_finding_is_found() -> None:
    task = random_task(SEED, 2)
    judge = Judge(task)
    (report, *_) = [report for report in judge.reports if any(finding.rule for finding in report.findings)]
    fewer = report._replace(findings=tuple(finding for finding in report.findings if not finding.rule))
    lines = differences(report, fewer, Names(), EVERYTHING, judge.facts, judge.facts.occurring)
    assert any(line.startswith("finding lost") for line in lines)


@pytest.mark.parametrize("action", ["or", "exists", "when"])
@pytest.mark.parametrize("term", ["?x", "cup", "_"])
def test_an_action_called_like_an_operator_around_steps(action: str, term: str) -> None:
    """`(or ?x)` is a step of the action `or`; `(or (or ?x))` has one alternative."""
    domain = f"""(define (domain names) (:types thing) (:predicates (p))
        (:action {action} :parameters (?x - thing) :effect (p)))"""
    problem = "(define (problem names) (:domain names) (:objects cup - thing) (:init) (:goal (p)))"
    for step in (f"({action} {term})", f"(or ({action} {term}))"):
        rules = f"(define (safety names) (:process no :on {step} :forbid ()))"
        judge = Judge(parsed("names", domain, problem, [rules], [f"({action} cup)"]))
        assert judge.problem == ""
        (report,) = judge.reports
        assert [(finding.rule, finding.step) for finding in report.findings] == [("no", 1)]


def test_an_action_called_or_without_parameters() -> None:
    domain = "(define (domain names) (:predicates (p)) (:action or :effect (p)))"
    problem = "(define (problem names) (:domain names) (:init) (:goal (p)))"
    rules = "(define (safety names) (:process no :on (or) :forbid ()))"
    (report,) = Judge(parsed("names", domain, problem, [rules], ["(or)"])).reports
    assert [(finding.rule, finding.step) for finding in report.findings] == [("no", 1)]


@pytest.mark.parametrize("plan", ["(define)", "(define) (define)", "0: (define)", "; (a (comment\n(DEFINE ; (x)\n)"])
def test_an_action_called_define(plan: str) -> None:
    domain = "(define (domain names) (:predicates (p)) (:action define :effect (p)))"
    problem = "(define (problem names) (:domain names) (:init) (:goal (p)))"
    judge = Judge(parsed("names", domain, problem, [], []))
    report = judge.checker.check(Source("names.plan", plan))
    assert report.headline is not None
    assert report.headline.value == "VALID"


@pytest.mark.parametrize("operator", ["once", "historically", "yesterday", "action"])
def test_a_predicate_called_like_a_temporal_operator(operator: str) -> None:
    """A predicate may have the name of an operator: only the arguments of an operator are lists."""
    domain = f"""(define (domain names) (:types thing) (:predicates ({operator} ?x - thing) (p))
        (:action act :parameters (?x - thing) :effect (and ({operator} ?x) (p))))"""
    problem = "(define (problem names) (:domain names) (:objects cup - thing) (:init) (:goal ()))"
    inside = "(act cup)" if operator == "action" else "(p)"
    rules = f"""(define (safety names) (:process operator :require (not ({operator} {inside})))
        (:termination atom :parameters (?x - thing) :forbid ({operator} ?x)))"""
    judge = Judge(parsed("names", domain, problem, [rules], ["(act cup) (act cup)"]))
    assert judge.problem == ""
    (report,) = judge.reports
    first = {"once": 1, "historically": None, "yesterday": 2, "action": 0}[operator]
    expected = [] if first is None else [("operator", first)]
    assert sorted((finding.rule, finding.step) for finding in report.findings) == sorted([*expected, ("atom", 2)])
