"""One open number in continuous time: the ranges of its values, compared with the kernel."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random
from typing import cast

import pytest
from hybrid_random import generate_case
from open_number_compare import compare_ranges, open_number

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.execution.continuous.open_number import OpenNumber, RationalFunction, SampleIsBoundary
from plansafe.verifier.execution.continuous.roots import find_rational_between, find_roots
from plansafe.verifier.model.limits import Undecided
from plansafe.verifier.model.nodes import Number, divide
from plansafe.verifier.reporting.report import Headline, Report, Worlds

ROOT = Path(__file__).resolve().parents[2]
DOMAIN = """(define (domain tub)
  (:predicates (running) (wet) (b0))
  (:functions (level) (flow) (heat))
  (:process fill :precondition (running) :effect (increase (level) (* #t (flow))))
  (:process warm :precondition (running) :effect (increase (heat) (* #t (level))))
  (:event overflow :precondition (and (>= (level) 10) (not (wet))) :effect (and (wet) (not (running))))
  (:action open :effect (running))
  (:action close :effect (not (running))))"""
PLAN = "0: (open)\n4: (close)\n"


def audit(init: str, rule: str, plan: str = PLAN, goal: str = "()") -> Report:
    problem = f"(define (problem p) (:domain tub) (:init (= (heat) 0) {init}) (:goal {goal}))"
    specification = [Source("rule.safe", f"(define (safety s) {rule})")]
    checker = Checker(Source("d", DOMAIN), Source("p", problem), specification, Options(replay="always"))
    return checker.check(Source("plan", plan))


def list_ranges(report: Report) -> list[str]:
    assert report.worlds is not None
    assert all(part.replayed for part in report.worlds.ranges)
    return [
        f"{'(' if part.low_open else '['}{part.low} {part.high}{')' if part.high_open else ']'} {part.headline}"
        for part in report.worlds.ranges
    ]


@pytest.mark.parametrize(
    ("init", "rule", "ranges"),
    [
        ("(<= 1 (flow) 3) (= (level) 0)", "(:process r :forbid (>= (level) 10))", ["[1 5/2) SAFE", "[5/2 3] UNSAFE"]),
        ("(<= 1 (flow) 3) (= (level) 0)", "(:process r :forbid (> (level) 10))", ["[1 3] SAFE"]),
        ("(< 1 (flow) 2) (= (level) 0)", "(:process r :forbid (> (level) 4))", ["(1 2) UNSAFE"]),
        ("(<= 1 (flow)) (= (level) 0)", "(:process r :forbid (wet))", ["[1 5/2) SAFE", "[5/2 None) UNSAFE"]),
        ("(<= (flow) 3) (= (level) 0)", "(:process r :forbid (< (level) 0))", ["(None 0) UNSAFE", "[0 3] SAFE"]),
        (
            "(unknown (flow)) (= (level) 0)",
            "(:process r :forbid (= (level) 2))",
            ["(None 1/2) SAFE", "[1/2 None) UNSAFE"],
        ),
        ("(= (flow) 1) (<= 0 (level) 20)", "(:termination r :forbid (= (level) 7))", ["[0 3) SAFE", "[3 3] UNSAFE"]),
        # the moment at which the level reaches 10 is 10 / flow
        ("(<= 1 (flow) 5) (= (level) 0)", "(:trajectory r :formula (within 3 (wet)))", ["[1 10/3) UNSAFE"]),
        # heat = flow t^2 / 2 does not reach 17, and would at an irrational moment
        ("(<= 0.5 (flow) 2) (= (level) 0)", "(:termination r :forbid (> (heat) 17))", ["[1/2 2] SAFE"]),
    ],
)
def test_ranges(init: str, rule: str, ranges: list[str]) -> None:
    report = audit(init, rule)
    assert report.worlds is not None, report.diagnostics
    assert list_ranges(report)[: len(ranges)] == ranges


def test_the_verdict_changes_at_irrational_values() -> None:
    report = audit("(= (flow) 0) (<= -3 (level) 3)", "(:termination r :forbid (> (* (level) (level)) 2))", plan="")
    assert report.worlds is not None
    assert [(part.low, part.high, part.headline) for part in report.worlds.ranges] == [
        ("-3", "-1.414213562", "UNSAFE"),
        ("-1.414213562", "1.414213562", "SAFE"),
        ("1.414213562", "3", "UNSAFE"),
    ]


def test_a_failure_with_an_irrational_value_is_unknown() -> None:
    report = audit("(= (flow) 0) (<= -3 (level) 3)", "(:termination r :forbid (>= (* (level) (level)) 2))", plan="")
    assert report.worlds is not None
    assert [part.headline for part in report.worlds.ranges] == ["UNSAFE", "UNKNOWN", "SAFE", "UNKNOWN", "UNSAFE"]
    assert (report.executable, report.goal, report.safe) == (Worlds.UNKNOWN, Worlds.UNKNOWN, Worlds.SOME)


def test_witness_question_and_cause() -> None:
    report = audit("(<= 1 (flow) 3) (= (level) 0)", "(:process r :forbid (wet))", goal="(not (running))")
    assert (report.executable, report.goal, report.safe) == (Worlds.ALL, Worlds.ALL, Worlds.SOME)
    assert report.worlds is not None
    assert report.worlds.question == ("(flow)",)
    assert report.worlds.cause == (("(flow)", "3"),)
    assert [witness.replayed for witness in report.worlds.witnesses] == [True]
    assert all(finding.replayed for finding in report.findings)


def test_unsafe_for_all_values() -> None:
    report = audit("(<= 1 (flow) 3) (= (level) 0)", "(:process r :forbid (not (wet)))")
    assert report.worlds is not None
    assert {part.headline for part in report.worlds.ranges} == {"UNSAFE"}
    assert (report.worlds.question, report.worlds.cause) == (None, ())


def test_safe_for_all_values() -> None:
    report = audit("(<= 1 (flow) 2) (= (level) 0)", "(:process r :forbid (wet))")
    assert (report.headline, report.safe) == (Headline.SAFE, Worlds.ALL)
    assert report.worlds is not None
    assert report.worlds.question is None
    assert report.worlds.cause is None


def test_an_irrational_moment_that_depends_on_the_number_is_unknown() -> None:
    report = audit("(< 0.8 (flow) 0.9) (= (level) 0)", "(:process r :forbid (> (heat) 6))")
    assert report.headline is Headline.UNKNOWN
    assert any("an irrational moment" in limit for limit in report.limits)


def test_an_open_fact_and_an_open_number() -> None:
    report = audit("(<= 1 (flow) 2) (= (level) 0) (unknown (wet))", "(:process r :forbid (wet))")
    assert (report.headline, report.safe) == (Headline.UNSAFE, Worlds.SOME)
    assert report.worlds is not None
    assert report.worlds.ranges == ()


def test_a_limit_that_is_irrational_is_approached() -> None:
    """The moment of the limit is irrational: the duration is compared with rational numbers near it."""
    domain = """(define (domain d) (:predicates (done)) (:functions (x) (clock))
      (:process run :precondition () :effect (and (increase (clock) (* #t 1)) (increase (x) (* #t (clock)))))
      (:durative-action wait :parameters () :duration (>= ?duration 0) :effect (at end (done))))"""
    problem = "(define (problem p) (:domain d) (:init (= (x) 0) (= (clock) 0)) (:goal (done)))"
    rule = "(define (safety s) (:process r :forbid (and (> (x) 1) (not (done)))))"
    sources = Source("d", domain), Source("p", problem), [Source("r", rule)]
    report = Checker(*sources, Options(replay="always")).check(Source("plan", "0: (wait) [1.5 +- 1]\n"))
    assert report.headline is Headline.UNSAFE
    assert report.worlds is not None
    ranges = report.worlds.ranges
    assert [part.headline for part in ranges[:2]] == ["SAFE", "UNKNOWN"]
    assert {part.headline for part in ranges[1:]} == {"UNKNOWN", "UNSAFE"}
    assert abs(Fraction(ranges[0].high or 0) ** 2 - 2) < Fraction(1, 10**6)
    assert len(ranges) < 60


def test_a_duration_with_a_tolerance() -> None:
    plan = (ROOT / "examples/bathtub/short-bath.plan").read_text("utf-8").replace("[15]", "[15 +- 6]")
    folder = ROOT / "examples/bathtub"
    domain, problem, rules = [
        Source(name, (folder / name).read_text("utf-8")) for name in ("domain.pddl", "problem.pddl", "water.safe")
    ]
    report = Checker(domain, problem, [rules], Options()).check(Source("plan", plan))
    assert list_ranges(report) == ["[9 9999/1000) INVALID", "[9999/1000 15] SAFE", "(15 21] INVALID"]
    assert report.worlds is not None
    assert report.worlds.ranges[0].what == "duration of step 4 (bathe)"
    assert report.worlds.question is None


def test_the_kernel_contradicts_a_range_that_is_too_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OpenNumber, "_restrict", lambda *_: None)
    report = audit("(<= 1 (flow) 3) (= (level) 0)", "(:process r :forbid (wet))")
    assert report.headline is None
    assert [problem.code for problem in report.diagnostics] == ["SC901"]


@pytest.mark.parametrize("number", range(12))
def test_random_ranges(number: int) -> None:
    random = Random(number)
    case = open_number(generate_case(35, number, linear=0.2), random)
    assert compare_ranges(case, random).differences == (), case.texts()


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1000, 1300))
def test_more_random_ranges(number: int) -> None:
    random = Random(number)
    case = open_number(generate_case(35, number, linear=0.2), random)
    assert compare_ranges(case, random).differences == (), case.texts()


# -- functions of the open number -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_arithmetic_agrees_with_fractions_in_the_whole_range(seed: int) -> None:
    """An expression with comparisons gives the same results with each value of the range."""
    random = Random(seed)

    def compute(x: Number) -> tuple[list[Number], list[bool]]:
        steps = Random(seed)
        numbers: list[Number] = [x, 2, Fraction(1, 3)]
        results = []
        for _ in range(8):
            left, right = steps.choice(numbers), steps.choice(numbers)
            roll = steps.random()
            if roll < 0.3:
                numbers.append(left + right)
            elif roll < 0.5:
                numbers.append(left - right)
            elif roll < 0.8:
                numbers.append(left * right)
            elif right != 0:
                numbers.append(divide(left, right))
            results.append(left <= right if steps.random() < 0.5 else left == right)
        return numbers, results

    variable = OpenNumber(Fraction(random.randint(1, 40), 7), 0, 6)
    try:
        functions, results = compute(variable.number)
    except SampleIsBoundary:
        return
    assert variable.high is not None
    low, high = [
        find_rational_between(variable.low, variable.sample),
        find_rational_between(variable.sample, variable.high),
    ]
    for share in (Fraction(1, 100), Fraction(1, 2), Fraction(99, 100)):
        value = low + (high - low) * share
        numbers, expected = compute(value)
        assert results == expected
        for function, number in zip(functions, numbers, strict=True):
            assert evaluate(function, value) == number


def evaluate(function: Number, value: Number) -> Fraction:
    """Return a function of the open number at a value."""
    if not isinstance(function, RationalFunction):
        return Fraction(function)
    numerator, denominator = [
        sum((Fraction(c) * value**power for power, c in enumerate(part)), Fraction(0))
        for part in (function.numerator, function.denominator)
    ]
    return numerator / denominator


def test_a_comparison_at_its_boundary_is_reported() -> None:
    number = OpenNumber(Fraction(2), 0, None).number
    with pytest.raises(SampleIsBoundary):
        _ = number * number == 4


def test_a_comparison_with_an_irrational_number_uses_a_rational_one() -> None:
    (root,) = find_roots((-2, 0, 1), 10)
    variable = OpenNumber(Fraction(1), 0, None)
    assert variable.number < root and variable.number + 2 > root and variable.number != root
    assert (variable.low, variable.high) > (0, 1) and variable.high is not None and variable.high < root


def test_bounds_are_refused() -> None:
    with pytest.raises(Undecided):
        cast("RationalFunction", OpenNumber(Fraction(2), 0, None).number).enclose()
