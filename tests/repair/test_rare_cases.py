"""Cases of the search for repairs that few plans reach: shares of limits, planners, places of moves, rare demands."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.planning.planner import PlanningQuery, PlanningResult, PlanningStatus
from plansafe.verifier.repair import api as repair_api
from plansafe.verifier.repair import planner_repairs
from plansafe.verifier.repair.alignments import Alignment
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.edit_reasons import EditDescriber
from plansafe.verifier.repair.model import RepairOptions, RepairResult, RepairStatus
from plansafe.verifier.repair.plan_purpose import PurposeHints
from plansafe.verifier.repair.rule_scopes import ScopeKind, find_rule_scope

BOX_DOMAIN = """(define (domain boxes) (:predicates (open) (full) (clean))
  (:action open :precondition (not (open)) :effect (open))
  (:action close :precondition (open) :effect (not (open)))
  (:action fill :precondition (open) :effect (and (full) (not (clean))))
  (:action wipe :precondition (not (clean)) :effect (clean)))"""


def make_checker(domain: str, init: str, goal: str, rules: str = "", options: Options | None = None) -> Checker:
    name = domain.split()[2].rstrip(")")
    problem = f"(define (problem p) (:domain {name}) (:init {init}) (:goal {goal}))"
    specs = [Source("s", f"(define (safety s) {rules})")] if rules else []
    checker = Checker(Source("d", domain), Source("p", problem), specs, options or Options())
    assert checker.ok, checker.diagnostics
    return checker


def resolved_steps(checker: Checker, plan: str) -> Sequence[GroundAction | IllFormed]:
    return checker.read(Source("plan", plan)).steps


class _RecordingPlanner:
    """Finds no plan, and records the lengths of the prefixes that it is asked to continue."""

    def __init__(self) -> None:
        self.prefix_lengths: list[int] = []

    def solve(self, query: PlanningQuery) -> PlanningResult:
        self.prefix_lengths.append(len(query.prefix))
        return PlanningResult(PlanningStatus.NOT_FOUND)


@pytest.fixture
def planner(monkeypatch: pytest.MonkeyPatch) -> _RecordingPlanner:
    recorder = _RecordingPlanner()
    monkeypatch.setattr(planner_repairs, "make_default_planners", lambda *_: recorder)
    return recorder


def test_planners_continue_all_steps_before_the_first_that_fails(planner: _RecordingPlanner) -> None:
    checker = make_checker(BOX_DOMAIN, "(clean)", "(and (full) (clean))")
    steps = resolved_steps(checker, "(open)\n(fill)\n(open)\n")
    planner_repairs.find_planner_repair(checker, steps, RepairOptions(), lambda _: False, 1.0)
    assert planner.prefix_lengths == [0, 2]


def test_planners_are_asked_after_a_search_that_ended_at_the_cost_limit(planner: _RecordingPlanner) -> None:
    checker = make_checker(BOX_DOMAIN, "(clean)", "(and (full) (clean))")
    result = repair(checker, Source("plan", ""), RepairOptions(time_limit_s=None, max_cost=1))
    assert result.status is RepairStatus.NOT_FOUND
    assert planner.prefix_lengths == [0]


def test_planners_are_not_asked_again_after_a_limit_of_work(planner: _RecordingPlanner) -> None:
    checker = make_checker(BOX_DOMAIN, "(clean)", "(and (full) (clean))")
    result = repair(checker, Source("plan", ""), RepairOptions(time_limit_s=None, max_work=1))
    assert result.status is RepairStatus.NOT_FOUND
    assert planner.prefix_lengths == [0]


def test_each_search_gets_its_share_of_the_remaining_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the time for each search that keeps the purpose, and all that remains for the last search."""
    now, limits = [100.0], []

    class Attempt:
        reached_limit = False

        def __init__(self, _checker: object, _plan: object, _steps: object, options: RepairOptions, *_: object) -> None:
            limits.append(options.time_limit_s)

        def run(self) -> RepairResult:
            now[0] += 10
            return RepairResult(RepairStatus.NOT_FOUND)

    monkeypatch.setattr(repair_api, "RepairAttempt", Attempt)
    monkeypatch.setattr(repair_api, "monotonic", lambda: now[0])
    checker = make_checker(BOX_DOMAIN, "(clean)", "(and)", "(:termination shut :forbid (open))")
    options = RepairOptions(time_limit_s=100, purpose_hints=PurposeHints())
    repair(checker, Source("plan", "(open)\n(fill)\n"), options)
    assert limits == [50, 90]


@pytest.mark.parametrize(
    ("formula", "kind"),
    [
        ("(until (not (action (open))) (full))", ScopeKind.TRACE),
        ("(until (action (open)) (full))", ScopeKind.STEP_COUNT),
    ],
)
def test_an_operand_of_until_may_read_only_steps_that_do_not_happen(formula: str, kind: ScopeKind) -> None:
    """Steps that are inserted elsewhere make `(until (action ..) ..)` false, but not the negated form."""
    rules = f"(:trajectory order :formula (always (imply (clean) {formula})))"
    engine = make_checker(BOX_DOMAIN, "", "(and)", rules).engine
    (part,) = engine.rule_set.parts
    assert find_rule_scope(part, frozenset(engine.action_predicates.values())).kind is kind


def test_the_old_place_of_a_moved_step_is_found_among_the_steps_that_kept_their_order() -> None:
    """Steps 2 and 4 were moved to the start: step 2 was between 1 and 3, where it cannot be taken."""
    checker = make_checker(BOX_DOMAIN, "(open)", "(and)")
    texts = ["(close)", "(fill)", "(open)", "(wipe)"]
    steps = resolved_steps(checker, "\n".join(texts))
    assert all([isinstance(step, GroundAction) for step in steps])
    origin = (2, 4, 1, 3)
    repaired = tuple([step for number in origin if isinstance(step := steps[number - 1], GroundAction)])
    describer = EditDescriber(checker.engine, steps, texts, checker.options.criteria)
    first, *_ = describer.describe(Alignment(repaired, origin, frozenset((0, 1)), frozenset(), ()))
    assert first.reason == "at its old position it cannot be taken: (open) is not true"


TANK_DOMAIN = """(define (domain tank) (:predicates (lid) (valve)) (:functions (level))
  (:action lift :effect (lid))
  (:action turn :effect (valve))
  (:action pour :precondition (or (lid) (valve)) :effect (increase (level) 5)))"""


def test_a_number_is_changed_by_an_action_whose_precondition_is_a_disjunction() -> None:
    checker = make_checker(TANK_DOMAIN, "(= (level) 0)", "(>= (level) 5)")
    result = repair(checker, Source("plan", ""), RepairOptions(time_limit_s=None))
    assert {listed.steps for listed in result.repairs} == {("(lift)", "(pour)"), ("(turn)", "(pour)")}
    assert (result.bound, result.optimal, result.complete) == (2, True, True)


METER_DOMAIN = """(define (domain meter) (:predicates (on)) (:functions (level) (total))
  (:action measure :effect (assign (level) 0))
  (:action pour :precondition (>= (level) 0) :effect (increase (total) 5)))"""


def test_a_precondition_that_reads_an_undefined_number_is_made_true() -> None:
    checker = make_checker(METER_DOMAIN, "(= (total) 0)", "(>= (total) 5)")
    result = repair(checker, Source("plan", ""), RepairOptions(time_limit_s=None))
    assert [listed.steps for listed in result.repairs] == [("(measure)", "(pour)")]
    assert (result.bound, result.optimal, result.complete) == (2, True, True)
