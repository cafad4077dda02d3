"""Each binding of a ``oneof`` below ``forall`` has its own outcome, in the engines and in the kernel."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from quick import quick_every

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))  # for bench, which is not part of the package

from bench.worlds import run  # noqa: E402
from bench.worlds.outcomes import pouring_task  # noqa: E402
from worlds_brute import enumerate_verdict  # noqa: E402
from worlds_case import WorldsCase  # noqa: E402
from worlds_compare import create_checker, find_report_differences  # noqa: E402

from plansafe.grammar.source import Source  # noqa: E402
from plansafe.verifier.execution.steps import GroundAction  # noqa: E402
from plansafe.verifier.reporting.confirmation import make_kernel_world  # noqa: E402
from plansafe.verifier.reporting.report import Headline  # noqa: E402
from plansafe.verifier.reporting.worlds import Completion, MissingOutcome, OneofOutcomes  # noqa: E402
from plansafe.verifier.symbolic.worlds.world_replay import complete_outcomes, list_oneof_statements, resolve_outcomes  # noqa: E402

UNORDERED = "(define (plan x) (:steps (a (act b1)) (b (act b2))) (:ordering))"


def create_case(effect: str, plan: str = "(act b1)", goal: str = "()", init: str = "", rules: str = "") -> WorldsCase:
    domain = f"""(define (domain d) (:types item box)
      (:predicates (wet ?x - item) (dirty ?x - item) (in ?x - item ?b - box))
      (:action act :parameters (?b - box) :effect {effect})
      (:durative-action last :parameters (?b - box) :duration (= ?duration 2) :effect (at end {effect})))"""
    problem = f"""(define (problem p) (:domain d) (:objects cup plate - item b1 b2 - box)
      (:init {init}) (:goal {goal}))"""
    return WorldsCase(domain, problem, (f"(define (safety s) {rules})",) if rules else (), plan)


OVERLAPPING = "(forall (?x - item) (oneof (wet ?x) (and (wet ?x) (dirty ?x))))"
BELOW_WHEN = "(forall (?x - item) (when (in ?x ?b) (and (not (in ?x ?b)) (oneof (wet ?x) (dirty ?x)))))"
IMPOSSIBLE = "(forall (?x - item) (oneof (when (in ?x ?b) (wet ?x)) (when (in ?x ?b) (dirty ?x))))"
NESTED = "(forall (?x - item) (oneof (oneof (wet ?x) (and (wet ?x) (dirty ?x))) (and)))"
NOTHING = "(and (oneof (and) (and)) (forall (?x - item) (oneof (and) (wet ?x))))"
TIMED = "0: (last b1)[2]\n3: (act b2)\n"


@pytest.mark.parametrize("effect", [OVERLAPPING, BELOW_WHEN, IMPOSSIBLE, NESTED, NOTHING, "(oneof (and) (and))"])
@pytest.mark.parametrize("plan", ["(act b1)", "(act b1)(act b2)", UNORDERED, TIMED])
@pytest.mark.parametrize(
    ("goal", "rules"),
    quick_every(
        8,
        [
            ("(wet plate)", ""),
            ("(and (wet cup) (dirty plate))", ""),
            ("()", "(:termination clean :parameters (?x - item) :forbid (and (wet ?x) (dirty ?x)))"),
        ],
    ),
)
def test_each_object_has_an_outcome_of_its_own(effect: str, plan: str, goal: str, rules: str) -> None:
    case = create_case(effect, plan, goal, "(in cup b1) (in plate b2)", rules)
    assert find_report_differences(case, ("auto",) if plan == TIMED else ("auto", "sat", "smt")) == []


def test_the_shared_effect_of_all_alternatives_is_certain() -> None:
    report = create_checker(create_case(OVERLAPPING, goal="(wet plate)")).check(Source("plan", "(act b1)"))
    assert (report.headline, report.exit_code) == (Headline.VALID, 0)


@pytest.mark.parametrize("safe", [True, False])
def test_the_smallest_benchmark_cases_have_the_expected_verdict(safe: bool) -> None:
    small = pouring_task(2, 3, 4, spills=True, safe=safe)
    case = WorldsCase(small.domain, small.problem, (small.rules,), small.plan)
    assert enumerate_verdict(case).headline == small.expected.headline
    assert find_report_differences(case) == []


def test_the_benchmark_fails_if_answers_differ(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(run, "SMALL", {"spills": lambda safe: pouring_task(2, 3, 4, spills=True, safe=safe)})
    monkeypatch.setattr(run.Bench, "measure_safecheck", lambda *_: run.Timed(0.1, 0.1, 1, 1, "exit 4"))
    monkeypatch.setattr(
        run.Bench, "measure_naive", lambda _, __, task: run.Timed(0.1, 0.1, 1, 1, task.expected.headline)
    )
    monkeypatch.setattr(sys, "argv", ["run", "--quick", "--only", "naive", "--output", str(tmp_path / "w.json")])
    assert run.main() == 1


def test_the_benchmark_compares_the_growth_series(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(
        run.Bench, "measure_safecheck", lambda _, __, task: run.Timed(0.1, 0.1, 1, 1, str(task.expected))
    )
    monkeypatch.setattr(run.Bench, "measure_naive", lambda *_: run.Timed(0.1, 0.1, 1, 1, "UNSAFE"))
    monkeypatch.setattr(sys, "argv", ["run", "--quick", "--only", "growth", "--output", str(tmp_path / "w.json")])
    assert run.main() == 1


def test_a_world_has_an_outcome_for_every_binding() -> None:
    chosen = {(1, 0, (0,)): 2, (1, 0, (1,)): 1, (1, 0, (2,)): 2, (3, 1, ()): 1}
    total = complete_outcomes([(1, 0), (1, 1), (3, 1)], chosen)
    assert total == {(1, 0): OneofOutcomes(2, {(1,): 1}), (1, 1): OneofOutcomes(0, {}), (3, 1): OneofOutcomes(1, {})}
    world = Completion(frozenset(), {}, total)
    assert {key: world.get_alternative(*key) for key in chosen} == chosen
    assert [world.get_alternative(1, 0, (9,)), world.get_alternative(1, 1, (9,))] == [2, 0]


def test_a_missing_outcome_is_an_error() -> None:
    checker = create_checker(create_case(OVERLAPPING))
    steps = checker.read(Source("plan", "(act b1)")).steps
    assert isinstance(steps[0], GroundAction)
    assert list_oneof_statements(steps) == ((1, 0),)
    world = Completion(frozenset(), {}, {})
    with pytest.raises(MissingOutcome):
        resolve_outcomes(steps, world)
    choose = make_kernel_world(checker.compiled, world).choose
    assert choose is not None
    with pytest.raises(MissingOutcome):
        choose(1, 0, ("cup",), 2)


def test_every_choice_of_an_action_is_counted() -> None:
    alternative_counts = create_checker(create_case(NOTHING)).engine.task.actions["act"].alternative_counts
    assert alternative_counts == (2, 2)
    assert create_checker(create_case(NESTED)).engine.task.actions["last"].alternative_counts == (2, 2)
