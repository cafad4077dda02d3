"""Verdicts on partially ordered plans: against the replay of every order, on open worlds, and at size."""

from __future__ import annotations

import time

import pytest
from orders_cases import STREAMS, by_replay, order_case, orders, steps_of, values
from orders_compare import compared
from orders_large import FAMILIES
from worlds_compare import differences
from worlds_generate import worlds_case

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.execution.replay import HALT, Replay
from plansafe.verifier.kernel import KernelLimit, KernelRejects
from plansafe.verifier.reporting.report import Headline, Worlds
from plansafe.verifier.symbolic.orders import explicit_orders, order_audit
from plansafe.verifier.symbolic.orders.exclusive_pairs import ExclusivePairs
from plansafe.verifier.symbolic.orders.moments import Moments
from plansafe.verifier.symbolic.orders.partial_order import PartialOrder
from plansafe.verifier.symbolic.orders.template import PlanTemplate, TooHard, no_openings
from quick import every

DOMAIN = """(define (domain d) (:predicates (p) (q)) (:functions (f))
  (:action make :effect (p)) (:action break :effect (not (p))) (:action need :precondition (p) :effect (q))
  (:action count :effect (increase (f) 1)))"""
PROBLEM = "(define (problem p) (:domain d) (:init (= (f) 0)) (:goal (q)))"


def judged(plan: str, pairs: list[tuple[int, int]], safety: str = "", **options: object) -> order_audit.Verdict:
    specs = [Source("s.safe", f"(define (safety s) {safety})")] if safety else []
    checker = Checker(Source("d.pddl", DOMAIN), Source("p.pddl", PROBLEM), specs)
    assert checker.ok, checker.diagnostics
    steps = checker.read(Source("plan", plan)).steps
    order = PartialOrder(len(steps), pairs)
    return order_audit.OrderAudit(checker.engine, steps, order, **options).verdict()  # type: ignore[arg-type]


@pytest.mark.parametrize("stream", every(4, STREAMS))
def test_verdicts_are_those_of_all_orders(stream: str) -> None:
    seen = set()
    for number in range(60 if stream in ("strips", "effects", "numbers") else 20):
        found = compared(stream, 20, number, kernel=number % 8 == 0)
        assert found.problem is None, found.problem
        seen.update(found.values)
    assert Worlds.ALL in seen and Worlds.NONE in seen


def test_enumeration_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise TooHard("no circuits today")

    monkeypatch.setattr(order_audit, "PlanTemplate", refuse)
    enumerated = 0
    for number in range(60):
        case = order_case(("effects", "numbers")[number % 2], 31, number)
        checker = case.checker()
        order = PartialOrder(len(case.plan), case.pairs)
        engine, steps = checker.engine, steps_of(case, checker)
        judging = order_audit.OrderAudit(engine, steps, order)
        assert judging.verdict()[:3] == values(by_replay(case, checker)), case.shown()
        enumerated += bool(judging.enumeration_reason)
    assert enumerated > 10


def test_past_all_limits_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise TooHard("no circuits today")

    monkeypatch.setattr(order_audit, "PlanTemplate", refuse)
    monkeypatch.setattr(explicit_orders, "MAX_POINTS", 2)
    found = judged("(make) (break) (need) (count)", [(1, 3)])
    assert found.executable is Worlds.SOME  # two replays show that
    found = judged("(make) (make) (need) (count)", [(1, 3)])
    assert found.executable is found.goal is Worlds.UNKNOWN
    assert found.limits == ("no circuits today", "the orders come to more than 2 different points")


def test_when_time_is_over_nothing_is_claimed() -> None:
    found = judged("(make) (make) (need) (count)", [(1, 3)], deadline=time.monotonic() - 1)
    assert found.executable is found.goal is found.safe is Worlds.UNKNOWN
    assert found.limits == ("the time limit has passed",)


def test_a_witness_is_an_order_in_which_it_fails() -> None:
    found = judged("(make) (need) (break)", [(1, 2), (1, 3)])
    assert found[:3] == (Worlds.SOME, Worlds.SOME, Worlds.ALL)
    assert found.inexecutable_world is not None and found.inexecutable_world.order == (1, 3, 2)
    assert found.unsafe_world is None


def test_ill_formed_steps_fail_where_they_are() -> None:
    found = judged("(make) (nonsense) (need)", [(1, 3)])
    assert found[:3] == (Worlds.NONE, Worlds.SOME, Worlds.ALL)


def test_small_plans() -> None:
    assert judged("", [])[:3] == (Worlds.ALL, Worlds.NONE, Worlds.ALL)
    assert judged("(make)", [])[:3] == (Worlds.ALL, Worlds.NONE, Worlds.ALL)
    with pytest.raises(ValueError, match="cyclic"):
        judged("(make) (need)", [(1, 2), (2, 1)])


def test_numbers_and_bounds_depend_on_the_order() -> None:
    plan, pairs = "(count) (make) (count) (break)", [(2, 4)]
    few = "(:process few :forbid (and (p) (>= (f) 2)))"
    assert judged(plan, pairs, few).safe is Worlds.SOME
    assert judged(plan, [*pairs, (4, 3)], few).safe is Worlds.ALL
    assert judged(plan, pairs, "(:trajectory soon :formula (within 2 (p)))").safe is Worlds.SOME
    assert judged(plan, pairs, "(:trajectory soon :formula (within 3 (p)))").safe is Worlds.ALL


@pytest.mark.slow
def test_exclusive_pairs_are_never_both_true() -> None:
    pairs = 0
    for number in range(25):
        case = order_case("effects", 41, number)
        checker = case.checker()
        steps, order = steps_of(case, checker), PartialOrder(len(case.plan), case.pairs)
        moments = Moments(PlanTemplate(checker.engine, no_openings(checker.engine), steps), order)
        found = ExclusivePairs(moments)
        for taken in orders(order):
            for length in range(len(taken) + 1):
                run = Replay(checker.engine, HALT)
                run.run_steps([steps[step - 1] for step in taken[:length]])
                held = {2 * i + (fact[1] not in run.state.facts[fact[0]]) for i, fact in enumerate(found.facts)}
                for literal in held:
                    assert not any(found.pairs[literal] >> other & 1 for other in held), case.shown()
        pairs += sum(mask.bit_count() for mask in found.pairs)
    assert pairs > 80


@pytest.mark.slow
def test_open_facts_outcomes_and_orders_together() -> None:
    judged_cases = 0
    for number in range(6):
        case = worlds_case("orders", 51, number)
        try:
            found = differences(case, ("auto",))
        except (KernelRejects, KernelLimit):
            continue
        assert not found, f"{found}\n{case.show()}"
        judged_cases += 1
    assert judged_cases > 3


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("fine", [True, False])
def test_large_plans(family: str, fine: bool) -> None:
    large = FAMILIES[family](200, 10, fine)
    assert len(large.steps) >= 198 and large.writers >= 20
    checker, steps = large.compiled()
    found = order_audit.OrderAudit(checker.engine, steps, PartialOrder(len(steps), large.pairs)).verdict()
    assert (found.executable.value, found.safe.value) == large.expected
    assert not found.limits


def test_the_world_shown_is_one_that_is_allowed() -> None:
    problem = "(define (problem p) (:domain d) (:init (oneof (= (f) 1) (= (f) 2))) (:goal (and)))"
    safety = Source("s.safe", "(define (safety s) (:process some :forbid (< (f) 1)))")
    checker = Checker(Source("d.pddl", DOMAIN), Source("p.pddl", problem), [safety])
    for steps in ("", "(count) (count)"):
        report = checker.check(Source("plan", f"(define (plan x) (:steps {steps}) (:ordering))"))
        assert report.headline is not None and report.headline.value == "SAFE", report.diagnostics


@pytest.mark.parametrize(
    ("plan", "headline"),
    [
        ("(define (plan x) (:steps (make)) (:ordering))", Headline.INVALID),
        ("(define (plan x) (:steps (make) (need)) (:ordering (< 1 2)))", Headline.VALID),
        ("(define (plan x) (:steps (need) (make)) (:ordering (< 2 1)))", Headline.VALID),
        ("(define (plan x) (:steps (need) (make)) (:ordering (< 1 2)))", Headline.INVALID),
        ("(define (plan x) (:steps) (:ordering))", Headline.INVALID),
    ],
)
@pytest.mark.parametrize("init", ["", "(unknown (r))"])
def test_one_order_alone(plan: str, headline: Headline, init: str) -> None:
    problem = PROBLEM.replace("(= (f) 0)", f"(= (f) 0) {init}")
    domain = DOMAIN.replace("(q)", "(q) (r)", 1)
    report = Checker(Source("d.pddl", domain), Source("p.pddl", problem)).check(Source("plan", plan))
    assert (report.headline, report.diagnostics) == (headline, ())


def test_one_order_alone_with_outcomes() -> None:
    domain = "(define (domain d) (:predicates (p) (q)) (:action a :effect (oneof (p) (q))) (:action b))"
    problem = "(define (problem x) (:domain d) (:init) (:goal (p)))"
    checker = Checker(Source("d", domain), Source("p", problem), (), Options(replay="always"))
    report = checker.check(Source("plan", "(define (plan x) (:steps (b) (a)) (:ordering (< 2 1)))"))
    assert (report.headline, report.goal) == (Headline.INVALID, Worlds.SOME)
    assert [finding.replayed for finding in report.findings] == [True]
