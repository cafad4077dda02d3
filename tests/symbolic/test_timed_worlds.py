"""Timed plans with open facts and numbers: one encoding decides over all worlds."""

from __future__ import annotations

import pytest
from worlds_case import WorldsCase
from worlds_compare import create_checker, find_report_differences

from plansafe.grammar.source import Source
from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.reporting.report import Report
from plansafe.verifier.rules.model import RulePart
from plansafe.verifier.rules.verdict_criteria import VerdictCriteria

DOMAIN = """(define (domain ovens)
  (:types dish)
  (:predicates (warm ?d - dish) (wet ?d - dish) (on))
  (:functions (level ?d - dish))
  (:durative-action bake :parameters (?d - dish) :duration (and (>= ?duration (level ?d)) (<= ?duration 5))
    :condition (over all (on)) :effect (at end (when (not (wet ?d)) (warm ?d))))
  (:action switch-off :effect (not (on)))
  (:action splash :parameters (?d - dish) :effect (oneof (wet ?d) (and))))
"""
RULES = """(define (safety ovens)
  (:trajectory soon :parameters (?d - dish) :formula (within 6 (warm ?d)))
  (:process dry :parameters (?d - dish) :on (splash ?d) :forbid (wet ?d)))
"""
DISHES = [f"d{number}" for number in range(24)]


def create_case(init: str, plan: str, rules: str = RULES, dishes: int = 2) -> WorldsCase:
    """A case in which dishes are baked."""
    objects = " ".join(DISHES[:dishes])
    problem = f"(define (problem p) (:domain ovens) (:objects {objects} - dish) (:init {init}) (:goal (and)))"
    return WorldsCase(DOMAIN, problem, (rules,), plan)


def check(case: WorldsCase) -> Report:
    """The report on a case."""
    return create_checker(case).check(Source("plan", case.plan))


def values(report: Report) -> tuple[str, ...]:
    """The headline and the three values of a report."""
    assert report.headline is not None
    return (report.headline.value, report.executable.value, report.goal.value, report.safe.value)


def test_a_timed_plan_with_a_million_worlds_is_decided() -> None:
    init = "(on) " + " ".join([f"(= (level {d}) 1) (unknown (wet {d}))" for d in DISHES])
    plan = "".join([f"{number / 8}: (bake {dish}) [2]\n" for number, dish in enumerate(DISHES)])
    report = check(create_case(init, plan, dishes=len(DISHES)))
    assert values(report) == ("UNSAFE", "ALL", "ALL", "SOME")
    assert report.worlds is not None
    assert report.worlds.cause is not None
    assert not report.limits


def test_an_open_number_bounds_a_duration() -> None:
    number = "(level d0)"
    case = create_case(f"(on) (>= {number} 1) (<= {number} 2)", "0: (bake d0) [2]", dishes=1)
    assert values(check(case)) == ("SAFE", "ALL", "ALL", "ALL")
    case = create_case(f"(on) (>= {number} 1) (<= {number} 3)", "0: (bake d0) [2]", dishes=1)
    assert values(check(case))[:2] == ("INVALID", "SOME")


@pytest.mark.parametrize(
    ("init", "plan"),
    [
        ("(unknown (on)) (at 0 (on))", "0: (bake d0) [2] 1: (bake d1) [2]"),
        ("(on) (unknown (wet d0)) (at 0 (= (level d0) 3))", "0: (bake d0) [2]"),
        ("(on) (unknown (wet d0)) (at 4 (not (wet d0)))", "0: (bake d0) [5] 1: (bake d1) [5]"),
        ("(on) (unknown (wet d0))", "0: (bake d0) [3] 1: (splash d0) 1: (splash d1) 2: (bake d1) [3]"),
        ("(on) (unknown (wet d0))", "0: (bake d0) [3] 3: (splash d0) 4: (bake d1) [1]"),
        ("(on) (unknown (wet d0))", "0: (bake d0) [3] 1: (switch-off) 1: (splash d1)"),
        ("(unknown (on))", "0: (bake d0) [3] 3: (switch-off) 4: (bake d1) [1]"),
        ("(on) (unknown (wet d0))", "0: (bake d0) [1] 0: (broil d0) 2: (bake d1) [1]"),
        ("(on) (or (wet d0) (wet d1))", "0: (bake d0) [1] 0: (bake d0) [1] 2: (bake d1) [1]"),
    ],
)
@pytest.mark.parametrize("judge", ["all", "introduced"])
def test_timed_plans_agree_with_the_replay_of_every_world(init: str, plan: str, judge: str) -> None:
    levels = " ".join([f"(= (level {d}) 1)" for d in DISHES[:2] if f"(level {d})" not in init])
    case = create_case(f"{init} {levels}", plan.replace("] ", "]\n").replace(") ", ")\n").replace(")\n[", ") ["))
    case = case._replace(criteria=VerdictCriteria(judge, "low", ()))
    assert find_report_differences(case) == []


def test_all_worlds_share_the_compiled_monitors(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled_parts: list[int] = []
    add_monitor = Runtime._add_monitor

    def count(runtime: Runtime, number: int, part: RulePart, emitter: Emitter) -> None:
        compiled_parts.append(number)
        add_monitor(runtime, number, part, emitter)

    monkeypatch.setattr(Runtime, "_add_monitor", count)
    counts = []
    for dishes in (1, 3):
        compiled_parts.clear()
        init = "(on) " + " ".join([f"(= (level {d}) 1) (unknown (wet {d}))" for d in DISHES[:dishes]])
        plan = "".join([f"{3 * number}: (bake {dish}) [2 +- 1]\n" for number, dish in enumerate(DISHES[:dishes])])
        assert values(check(create_case(init, plan, dishes=dishes)))[0] == "UNSAFE"
        counts.append(len(compiled_parts))
    assert counts[0] == counts[1]
