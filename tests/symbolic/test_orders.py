"""Verdicts on partially ordered plans agree with the replay of every order, also with open facts; large plans."""

from __future__ import annotations

import time

import pytest
from orders_cases import STREAMS, all_orders, combine_verdicts, generate_order_case, replay_all_orders, resolve_steps
from orders_compare import compare_case
from orders_large import FAMILIES
from worlds_compare import find_report_differences
from worlds_generate import generate_worlds_case

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.execution.replay import HALT, Replay
from plansafe.verifier.kernel import KernelLimit, KernelRejects
from plansafe.verifier.reporting.report import Headline, Worlds
from plansafe.verifier.symbolic.orders import explicit_orders, order_audit, order_encoding
from plansafe.verifier.symbolic.orders.exclusive_pairs import ExclusivePairs
from plansafe.verifier.symbolic.orders.fact_timeline import FactTimeline
from plansafe.verifier.symbolic.orders.partial_order import PartialOrder, Writers
from plansafe.verifier.symbolic.orders.template import PlanTemplate, TooHard, make_empty_openings
from quick import quick_every

DOMAIN = """(define (domain d) (:predicates (p) (q)) (:functions (f))
  (:action make :effect (p)) (:action break :effect (not (p))) (:action need :precondition (p) :effect (q))
  (:action count :effect (increase (f) 1)))"""
PROBLEM = "(define (problem p) (:domain d) (:init (= (f) 0)) (:goal (q)))"


def audit_plan(
    plan: str, pairs: list[tuple[int, int]], safety: str = "", **options: object
) -> order_audit.WorldsVerdict:
    specs = [Source("s.safe", f"(define (safety s) {safety})")] if safety else []
    checker = Checker(Source("d.pddl", DOMAIN), Source("p.pddl", PROBLEM), specs)
    assert checker.ok, checker.diagnostics
    steps = checker.read(Source("plan", plan)).steps
    order = PartialOrder(len(steps), pairs)
    return order_audit.OrderAudit(checker.engine, steps, order, **options).decide_verdict()  # type: ignore[arg-type]


@pytest.mark.parametrize("stream", quick_every(4, STREAMS))
def test_verdicts_agree_with_the_replay_of_all_orders(stream: str) -> None:
    property_values = set()
    for number in range(60 if stream in ("strips", "effects", "numbers") else 20):
        comparison = compare_case(stream, 20, number, kernel=number % 8 == 0)
        assert comparison.problem is None, comparison.problem
        property_values.update(comparison.values)
    assert Worlds.ALL in property_values and Worlds.NONE in property_values


def test_enumeration_of_orders_gives_the_same_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise TooHard("no circuits today")

    monkeypatch.setattr(order_encoding, "PlanTemplate", refuse)
    enumerated_count = 0
    for number in range(60):
        case = generate_order_case(("effects", "numbers")[number % 2], 31, number)
        checker = case.checker()
        order = PartialOrder(len(case.plan), case.pairs)
        engine, steps = checker.engine, resolve_steps(case, checker)
        audit = order_audit.OrderAudit(engine, steps, order)
        assert audit.decide_verdict()[:3] == combine_verdicts(replay_all_orders(case, checker)), case.describe_case()
        enumerated_count += bool(audit.enumeration_reason)
    assert enumerated_count > 10


def test_verdicts_are_unknown_beyond_all_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise TooHard("no circuits today")

    monkeypatch.setattr(order_encoding, "PlanTemplate", refuse)
    monkeypatch.setattr(explicit_orders, "MAX_NODES", 2)
    verdict = audit_plan("(make) (break) (need) (count)", [(1, 3)])
    assert verdict.executable is Worlds.SOME  # two replays show it
    verdict = audit_plan("(need) (make) (need)", [])
    assert verdict.executable is Worlds.SOME  # only an order that takes executable steps first shows it
    verdict = audit_plan("(make) (make) (need) (count)", [(1, 3)])
    assert verdict.executable is verdict.goal is Worlds.UNKNOWN
    assert verdict.limits == ("no circuits today", "the orders reach more than 2 different states")


def test_verdicts_are_unknown_after_the_deadline() -> None:
    verdict = audit_plan("(make) (make) (need) (count)", [(1, 3)], deadline=time.monotonic() - 1)
    assert verdict.executable is verdict.goal is verdict.safe is Worlds.UNKNOWN
    assert verdict.limits == ("the time limit has passed",)


def test_a_witness_is_an_order_that_fails() -> None:
    verdict = audit_plan("(make) (need) (break)", [(1, 2), (1, 3)])
    assert verdict[:3] == (Worlds.SOME, Worlds.SOME, Worlds.ALL)
    assert verdict.inexecutable_world is not None and verdict.inexecutable_world.order == (1, 3, 2)
    assert verdict.unsafe_world is None


def test_an_ill_formed_step_makes_every_order_inexecutable() -> None:
    verdict = audit_plan("(make) (nonsense) (need)", [(1, 3)])
    assert verdict[:3] == (Worlds.NONE, Worlds.SOME, Worlds.ALL)


def test_empty_plans_are_decided_and_cyclic_orders_rejected() -> None:
    assert audit_plan("", [])[:3] == (Worlds.ALL, Worlds.NONE, Worlds.ALL)
    assert audit_plan("(make)", [])[:3] == (Worlds.ALL, Worlds.NONE, Worlds.ALL)
    with pytest.raises(ValueError, match="cyclic"):
        audit_plan("(make) (need)", [(1, 2), (2, 1)])


def test_rules_about_numbers_and_deadlines_depend_on_the_order() -> None:
    plan, pairs = "(count) (make) (count) (break)", [(2, 4)]
    few = "(:process few :forbid (and (p) (>= (f) 2)))"
    assert audit_plan(plan, pairs, few).safe is Worlds.SOME
    assert audit_plan(plan, [*pairs, (4, 3)], few).safe is Worlds.ALL
    assert audit_plan(plan, pairs, "(:trajectory soon :formula (within 2 (p)))").safe is Worlds.SOME
    assert audit_plan(plan, pairs, "(:trajectory soon :formula (within 3 (p)))").safe is Worlds.ALL


def test_the_writers_of_a_fact_are_steps_of_the_plan() -> None:
    checker = Checker(Source("d.pddl", DOMAIN), Source("p.pddl", PROBLEM))
    steps = checker.read(Source("plan", "(make) (break) (need) (make)")).steps
    template = PlanTemplate(checker.engine, make_empty_openings(checker.engine), steps)
    timeline = FactTimeline(template, PartialOrder(len(steps), []))
    [p] = [fact for fact, value in template.initial_facts.items() if len(timeline.find_writes(fact)) == 3]
    making_steps, breaking_steps = 1 << 1 | 1 << 4, 1 << 2
    assert timeline.find_writers(p) == Writers(False, making_steps, breaking_steps, making_steps, breaking_steps)


def test_a_rule_with_many_instances_is_decided_by_its_facts() -> None:
    domain = """(define (domain d) (:predicates (link ?x ?y))
      (:action join :parameters (?x ?y) :effect (link ?x ?y))
      (:action cut :parameters (?x ?y) :effect (not (link ?x ?y))))"""
    objects = " ".join([f"o{number}" for number in range(200)])
    problem = f"(define (problem p) (:domain d) (:objects {objects}) (:init (link o0 o1)) (:goal (and)))"
    chain = (
        "(define (safety s) (:process chain :parameters (?x ?y ?z - object) :forbid (and (link ?x ?y) (link ?y ?z))))"
    )
    checker = Checker(Source("d", domain), Source("p", problem), [Source("s", chain)])
    joins = " ".join([f"(join o{number} o{number + 1})" for number in range(10, 34, 2)])
    plan = checker.read(Source("plan", f"(cut o0 o1) (join o1 o2) {joins}")).steps
    for pairs, safe in (([], Worlds.SOME), ([(1, 2)], Worlds.ALL), ([(2, 1)], Worlds.NONE)):
        audit = order_audit.OrderAudit(checker.engine, plan, PartialOrder(len(plan), pairs))
        assert (audit.decide_verdict().safe, audit.enumeration_reason) == (safe, "")


@pytest.mark.slow
def test_exclusive_pairs_are_never_both_true() -> None:
    pair_count = 0
    for number in range(25):
        case = generate_order_case("effects", 41, number)
        checker = case.checker()
        steps, order = resolve_steps(case, checker), PartialOrder(len(case.plan), case.pairs)
        timeline = FactTimeline(PlanTemplate(checker.engine, make_empty_openings(checker.engine), steps), order)
        exclusive = ExclusivePairs(timeline)
        for sequence in all_orders(order):
            for length in range(len(sequence) + 1):
                run = Replay(checker.engine, HALT)
                run.run_steps([steps[step - 1] for step in sequence[:length]])
                true_literals = {
                    2 * i + (fact[1] not in run.state.facts[fact[0]]) for i, fact in enumerate(exclusive.facts)
                }
                for literal in true_literals:
                    assert not any(exclusive.pairs[literal] >> partner & 1 for partner in true_literals), (
                        case.describe_case()
                    )
        pair_count += sum(mask.bit_count() for mask in exclusive.pairs)
    assert pair_count > 80


@pytest.mark.slow
def test_open_facts_outcomes_and_orders_combine() -> None:
    compared_cases = 0
    for number in range(6):
        case = generate_worlds_case("orders", 51, number)
        try:
            problems = find_report_differences(case, ("auto",))
        except (KernelRejects, KernelLimit):
            continue
        assert not problems, f"{problems}\n{case.show()}"
        compared_cases += 1
    assert compared_cases > 3


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("without_flaw", [True, False])
def test_large_plans_have_the_expected_verdicts(family: str, without_flaw: bool) -> None:
    large = FAMILIES[family](200, 10, without_flaw)
    assert len(large.steps) >= 198 and large.writers >= 20
    checker, steps = large.compiled()
    verdict = order_audit.OrderAudit(checker.engine, steps, PartialOrder(len(steps), large.pairs)).decide_verdict()
    assert (verdict.executable.value, verdict.safe.value) == large.expected
    assert not verdict.limits


def test_the_reported_world_is_an_allowed_world() -> None:
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
def test_an_ordering_that_allows_one_order_is_audited_in_it(plan: str, headline: Headline, init: str) -> None:
    problem = PROBLEM.replace("(= (f) 0)", f"(= (f) 0) {init}")
    domain = DOMAIN.replace("(q)", "(q) (r)", 1)
    report = Checker(Source("d.pddl", domain), Source("p.pddl", problem)).check(Source("plan", plan))
    assert (report.headline, report.diagnostics) == (headline, ())


def test_an_ordering_that_allows_one_order_is_audited_with_all_outcomes() -> None:
    domain = "(define (domain d) (:predicates (p) (q)) (:action a :effect (oneof (p) (q))) (:action b))"
    problem = "(define (problem x) (:domain d) (:init) (:goal (p)))"
    checker = Checker(Source("d", domain), Source("p", problem), (), Options(replay="always"))
    report = checker.check(Source("plan", "(define (plan x) (:steps (b) (a)) (:ordering (< 2 1)))"))
    assert (report.headline, report.goal) == (Headline.INVALID, Worlds.SOME)
    assert [finding.replayed for finding in report.findings] == [True]
