"""The forward search: compared with blind exhaustive search, its limits, and kitchen tasks."""

from __future__ import annotations

from collections import Counter, deque
from itertools import islice
from pathlib import Path

import pytest
from endless_tasks import checker_of, endless
from tiny_tasks import cases

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.online_monitor import Monitor
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.planning import best_first_search, state_estimates
from plansafe.verifier.planning.forward_search import ForwardSearch, confirm_by_replay
from plansafe.verifier.planning.guide import check_recoverable
from plansafe.verifier.planning.planner import PlanningQuery, PlanningStatus
from plansafe.verifier.reporting.report import Headline

STATES = 600


# ---- against exhaustive search --------------------------------------------------------------------------------------


def blind(checker: Checker) -> int | None:
    """The length of the shortest safe plan by breadth-first search, -1 if none exists, ``None`` if it is too long."""
    start = Execution.initial(checker.engine)
    visited, queue = {start.key()}, deque([] if start.broken else [start])
    while queue:
        now = queue.popleft()
        if now.accepted:
            return now.letter
        for step in Execution(checker.engine, now.state.fork()).legal():
            after = now.after(step)
            assert after is not None
            if not after.broken and after.key() not in visited:
                visited.add(after.key())
                queue.append(after)
        if len(visited) > STATES:
            return None
    return -1


@pytest.mark.slow
def test_infinite_tasks_agree_with_blind_search() -> None:
    """Pruning and the bounds of the relaxation hide no plan, and shortest plans are shortest."""
    planner, statistics = ForwardSearch(), Counter[str]()
    for number in range(500):
        checker = endless(number)
        least = blind(checker)
        if least is None:
            continue
        solution = planner.solve(PlanningQuery(checker, shortest=True, time_limit_s=60))
        greedy = planner.solve(PlanningQuery(checker, time_limit_s=60))
        assert (
            solution.status is greedy.status is (PlanningStatus.UNSOLVABLE if least < 0 else PlanningStatus.SOLVED)
        ), number
        if least >= 0:
            assert (solution.optimal, len(solution.steps)) == (True, least), number
            assert len(greedy.steps) >= least
        statistics["none" if least < 0 else "long" if least > 2 else "short"] += 1
    assert min(statistics.values()) >= 10, statistics


def test_backward_estimates_hide_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(best_first_search, "MAX_GROUNDINGS", -1)
    planner, statistics = ForwardSearch(), Counter[bool]()
    for number in range(1_000, 1_150):
        checker = endless(number)
        least = blind(checker)
        if least is None:
            continue
        solution = planner.solve(PlanningQuery(checker, time_limit_s=60))
        assert solution.status is (PlanningStatus.UNSOLVABLE if least < 0 else PlanningStatus.SOLVED), number
        statistics[least < 0] += 1
    assert min(statistics[True], statistics[False]) >= 10, statistics


HOME = """
(define (domain home) (:predicates (at ?x) (near ?x ?y) (open ?x) (held ?x) (inside ?x ?y) (dear ?x))
  (:action go :parameters (?x) :effect (and (at ?x) (forall (?y) (when (and (at ?y) (not (= ?x ?y))) (not (at ?y))))))
  (:action open :parameters (?x) :precondition (exists (?n) (and (at ?n) (near ?n ?x))) :effect (open ?x))
  (:action take :parameters (?x) :precondition (at ?x) :effect (held ?x))
  (:action put :parameters (?x ?y) :precondition (and (held ?x) (open ?y) (exists (?n) (and (at ?n) (near ?n ?y))))
    :effect (and (not (held ?x)) (inside ?x ?y)))
  (:action swap :parameters (?x ?y ?z) :precondition (and (held ?x) (held ?y)) :effect (near ?x ?z)))
"""


def test_a_task_with_many_objects_is_searched_without_grounding(monkeypatch: pytest.MonkeyPatch) -> None:
    """27 million ground actions; the way needs four objects, and a rule that the first try breaks needs a fifth."""

    def ground(*_: object) -> None:
        raise AssertionError("the relaxation is ground")

    monkeypatch.setattr(state_estimates, "DeleteRelaxation", ground)
    objects = " ".join([f"o{n}" for n in range(300)])
    facts = "(near o7 o8) (near o249 o250) (dear o9)"
    problem = f"(define (problem p) (:domain home) (:objects {objects}) (:init {facts}) (:goal (inside o9 o8)))"
    rule = "(define (safety s) (:process r :on (put ?x ?y) :require (open o250)))"
    for rules, length in (("", 5), (rule, 7)):
        checker = checker_of(HOME, problem, rules)
        solution = ForwardSearch().solve(PlanningQuery(checker, time_limit_s=60))
        assert solution.status is PlanningStatus.SOLVED
        assert length <= len(solution.steps) <= length + 3


@pytest.mark.slow
def test_continuations_of_prefixes_agree_with_the_list_of_all_plans() -> None:
    planner = ForwardSearch()
    for seed, case in islice(cases("prefixes", 40), 40):
        resolve = case.checker.engine.resolver.resolve_tokens
        for plan in case.executable[:4]:
            prefix = [resolve(step.strip("()").split()) for step in plan]
            steps = [step for step in prefix if isinstance(step, GroundAction)]
            for rules in (True, False):
                fits = [p for p in case.executable if p[: len(plan)] == plan]
                if rules:
                    fits = [p for p in fits if p in case.safe]
                else:
                    fits = [p for p in fits if case.kernel.audit("\n".join(p)).goal]
                solution = planner.solve(PlanningQuery(case.checker, steps, rules=rules, shortest=True))
                assert (solution.status is PlanningStatus.SOLVED) == bool(fits), (seed, plan, rules)
                if fits:
                    assert len(solution.steps) == min(map(len, fits)) - len(plan)


# ---- limits and refusals --------------------------------------------------------------------------------------------

COUNTER = """
(define (domain counter) (:predicates (done)) (:functions (x))
  (:action up :parameters () :effect (increase (x) 1))
  (:action stop :parameters () :precondition (= (x) {target}) :effect (done)))
"""
COUNTED = "(define (problem p) (:domain counter) (:init (= (x) 0)) (:goal (done)))"


def test_numbers_are_counted_exactly() -> None:
    solution = ForwardSearch().solve(PlanningQuery(checker_of(COUNTER.format(target=7), COUNTED), shortest=True))
    assert (solution.status, len(solution.steps), solution.optimal) == (PlanningStatus.SOLVED, 8, True)


def test_only_a_limit_ends_an_infinite_search() -> None:
    checker = checker_of(COUNTER.format(target=-1), COUNTED)
    solution = ForwardSearch(max_nodes=50).solve(PlanningQuery(checker))
    assert solution.status is PlanningStatus.NOT_FOUND
    assert "states" in solution.detail
    assert ForwardSearch().solve(PlanningQuery(checker, time_limit_s=0)).status is PlanningStatus.NOT_FOUND


def test_undefined_numbers_do_not_prove_unsolvability() -> None:
    """A rule with an undefined number makes plans UNKNOWN: they are not safe, but nothing is proved."""
    domain = "(define (domain d) (:predicates (g)) (:functions (x)) (:action a :parameters () :effect (g)))"
    checker = checker_of(
        domain,
        "(define (problem p) (:domain d) (:init) (:goal (g)))",
        "(define (safety s) (:process r :forbid (and (g) (> (x) 1))))",
    )
    assert checker.check(Source("p", "(a)")).headline is Headline.UNKNOWN
    assert ForwardSearch().solve(PlanningQuery(checker)).status is PlanningStatus.NOT_FOUND


@pytest.mark.parametrize("shortest", [False, True])
def test_an_unsafe_or_impossible_prefix_is_proved_to_have_no_continuation(shortest: bool) -> None:
    domain = """(define (domain d) (:predicates (g) (bad))
      (:action a :parameters () :effect (bad)) (:action b :parameters () :precondition (bad) :effect (g)))"""
    rules = "(define (safety s) (:process r :forbid (bad)))"
    checker = checker_of(domain, "(define (problem p) (:domain d) (:init) (:goal (g)))", rules)
    a, b = [GroundAction(checker.engine.task.actions[name], ()) for name in "ab"]
    for prefix, detail in (([a], "violated"), ([b], "step 1 of the prefix"), ([], "even if no fact is ever deleted")):
        solution = ForwardSearch().solve(PlanningQuery(checker, prefix, shortest=shortest))
        assert solution.status is PlanningStatus.UNSOLVABLE
        assert detail in solution.detail
    free = ForwardSearch().solve(PlanningQuery(checker, rules=False, shortest=shortest))
    assert [step.action.name for step in free.steps] == ["a", "b"]
    assert confirm_by_replay(PlanningQuery(checker, rules=False), free.steps)
    assert not confirm_by_replay(PlanningQuery(checker), free.steps)


def test_durative_actions_and_timed_literals_are_refused() -> None:
    durative = """(define (domain d) (:predicates (g))
      (:durative-action a :parameters () :duration (= ?duration 1) :condition (and) :effect (at end (g))))"""
    problem = "(define (problem p) (:domain d) (:init) (:goal (g)))"
    assert "durative" in ForwardSearch().solve(PlanningQuery(checker_of(durative, problem))).detail
    plain = "(define (domain d) (:predicates (g)) (:action a :parameters () :effect (g)))"
    timed = problem.replace("(:init)", "(:init (at 3 (g)))")
    solution = ForwardSearch().solve(PlanningQuery(checker_of(plain, timed)))
    assert (solution.status, "timed" in solution.detail) == (PlanningStatus.UNSUPPORTED, True)
    assert (
        ForwardSearch().solve(PlanningQuery(Checker(Source("d", "("), Source("p", problem)))).status
        is PlanningStatus.UNSUPPORTED
    )


def test_a_task_too_large_to_ground_is_searched_without_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plansafe.verifier.planning.relaxed_conditions.MAX_COMPILED_NODES", 3)
    checker = checker_of(COUNTER.format(target=3), COUNTED)
    for shortest in (False, True):
        solution = ForwardSearch().solve(PlanningQuery(checker, shortest=shortest))
        assert (solution.status, len(solution.steps)) == (PlanningStatus.SOLVED, 4)


def test_discarded_executions_are_recomputed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(best_first_search, "MAX_STORED_EXECUTIONS", 1)
    planner = ForwardSearch()
    for number in range(30):
        checker = endless(number)
        least = blind(checker)
        if least is not None:
            solution = planner.solve(PlanningQuery(checker, shortest=True, time_limit_s=60))
            assert (len(solution.steps) if solution.status is PlanningStatus.SOLVED else -1) == least


# ---- a kitchen ------------------------------------------------------------------------------------------------------


def household(root: Path, example: str, **options: object) -> Checker:
    def source(path: Path) -> Source:
        return Source(str(path), path.read_text(encoding="utf-8"))

    specs = root / "specs/plansafe/specs"
    return Checker(
        source(root / "domains/plansafe/domains/household/domain.pddl"),
        source(root / "examples" / example / "problem.pddl"),
        [source(specs / "household.safe")],
        Options(**options),  # type: ignore[arg-type]
        lambda least, _: source(specs / f"{least}.safe"),
    )


@pytest.mark.parametrize("example", ["breakfast", "dinner", "cleaning"])
def test_household_tasks_are_solved_safely(root: Path, example: str) -> None:
    checker = household(root, example)
    solution = ForwardSearch().solve(PlanningQuery(checker, time_limit_s=120))
    assert solution.status is PlanningStatus.SOLVED
    text = "\n".join(step_text(step, checker.engine.task.objects) for step in solution.steps)
    assert checker.check(Source("found", text)).headline is Headline.SAFE


def test_the_judge_option_decides_whether_pre_existing_violations_count_in_a_search(root: Path) -> None:
    """Bleach is in a child's reach from the start: no plan is SAFE, unless only introduced violations count."""
    assert ForwardSearch().solve(PlanningQuery(household(root, "visit"))).status is PlanningStatus.UNSOLVABLE
    mild = household(root, "visit", judge="introduced")
    assert ForwardSearch().solve(PlanningQuery(mild, time_limit_s=120)).status is PlanningStatus.SOLVED
    severe = household(root, "visit", min_severity="high")
    assert (
        ForwardSearch().solve(PlanningQuery(severe)).status is PlanningStatus.UNSOLVABLE
    )  # the bleach is of high severity
    both = household(root, "visit", judge="introduced", min_severity="critical")
    assert ForwardSearch().solve(PlanningQuery(both, time_limit_s=120)).status is PlanningStatus.SOLVED


# ---- online ---------------------------------------------------------------------------------------------------------

VASE = """
(define (domain vase) (:types place)
  (:predicates (at ?p - place) (next ?p ?q - place) (whole) (dusted ?p - place))
  (:action walk :parameters (?p ?q - place) :precondition (and (at ?p) (next ?p ?q))
    :effect (and (not (at ?p)) (at ?q)))
  (:action dust :parameters (?p - place) :precondition (at ?p) :effect (dusted ?p))
  (:action drop :parameters () :effect (not (whole))))
"""
VASES = """
(define (problem p) (:domain vase) (:objects a b c - place)
  (:init (at a) (next a b) (next b a) (next b c) (whole)) (:goal (and (dusted a) (dusted b) (whole))))
"""
CARE = """
(define (safety s) (:process not-c-first :on (dust b) :require (once (at c)))
  (:obligation back-soon :when (at c) :then (at b) :within 2))
"""


def test_recoverable() -> None:
    monitor = Monitor(checker_of(VASE, VASES).compiled)
    recoverability = check_recoverable(monitor, "(dust a)")
    assert (recoverability.recoverable, recoverability.continuation) == (True, ("(walk a b)", "(dust b)"))
    lost = check_recoverable(monitor, "(drop)")
    assert (lost.recoverable, lost.continuation) == (False, ())
    assert "even if no fact is ever deleted" in lost.detail
    assert check_recoverable(monitor, "(dust c)").recoverable is False
    assert check_recoverable(monitor, "(dust c)").detail == "(at c) is not true"
    assert check_recoverable(monitor, "(jump)").recoverable is False
    assert monitor.facts() == Monitor(checker_of(VASE, VASES).compiled).facts()


def test_recoverable_takes_rules_and_their_past_into_account() -> None:
    monitor = Monitor(checker_of(VASE, VASES, CARE).compiled)
    assert check_recoverable(monitor, "(dust a)").recoverable is False  # (once (at c)) needs c, and c cannot be left
    monitor.observe(["(next c b)"])
    recoverability = check_recoverable(monitor, "(dust a)")
    assert recoverability.recoverable is True
    assert recoverability.continuation == ("(walk a b)", "(walk b c)", "(walk c b)", "(dust b)")


def test_recoverable_starts_from_the_observed_state() -> None:
    monitor = Monitor(checker_of(VASE, VASES).compiled)
    monitor.take("(dust a)")
    monitor.observe(["(not (whole))"])
    assert check_recoverable(monitor, "(walk a b)").recoverable is False
    monitor.observe(["(whole)", "(at b)", "(not (at a))"])
    assert check_recoverable(monitor, "(dust b)") == (True, (), "")


def test_recoverable_reports_an_undecided_answer() -> None:
    monitor = Monitor(checker_of(COUNTER.format(target=-1), COUNTED).compiled)
    solution = check_recoverable(monitor, "(up)", ForwardSearch(max_nodes=20))
    assert solution.recoverable is None
    assert "no plan found" in solution.detail
    timed = COUNTED.replace("(= (x) 0)", "(= (x) 0) (at 5 (done))")
    assert check_recoverable(Monitor(checker_of(COUNTER.format(target=1), timed).compiled), "(up)").recoverable is None
