"""The planners agree with each other, and with an enumeration of all short plans."""

from __future__ import annotations

from pathlib import Path

import pytest
from planner_tasks import DEPTH, RULES, shortest, small_task

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.planning.external_planner import CompilationCache, Disagreement, PrintedQuery, confirm_plan
from plansafe.verifier.planning.forward_search import ForwardSearch
from plansafe.verifier.planning.kairos import KairosPlanner, find_executable
from plansafe.verifier.planning.planner import Planner, PlanningQuery, PlanningResult, PlanningStatus
from plansafe.verifier.planning.unified_planner import UnifiedPlanner
from quick import quick_every

TASKS = 2 * len(RULES)
KAIROS, FAST_DOWNWARD = KairosPlanner(), UnifiedPlanner()
BOTH = pytest.mark.parametrize("planner", [KAIROS, FAST_DOWNWARD], ids=lambda planner: planner.name)


def checker_of(domain: str, problem: str, rules: str = "") -> Checker:
    sources = [Source("rules", rules)] if rules else []
    checker = Checker(Source("domain", domain), Source("problem", problem), sources)
    assert checker.ok, [d.message for d in checker.diagnostics]
    return checker


def test_both_planners_are_installed() -> None:
    assert KAIROS.available()
    assert FAST_DOWNWARD.available()
    assert not UnifiedPlanner("no-such-engine").available()
    assert Path(find_executable() or "").is_file()


@pytest.mark.parametrize("number", quick_every(8, range(TASKS)))
def test_shortest_plans_are_those_of_an_enumeration(number: int) -> None:
    small = small_task(number)
    expected = shortest(small.checker, small.prefix)
    query = PlanningQuery(small.checker, small.prefix, shortest=True, time_limit_s=30.0)
    for planner in (KAIROS, FAST_DOWNWARD):
        solution = planner.solve(query)
        outcome = f"{solution.status} {len(solution.steps)} {solution.detail}"
        description = f"{planner.name}: {outcome}, expected {expected}\n{small.text}"
        if expected is not None:
            assert solution.status is PlanningStatus.SOLVED, description
            assert solution.optimal, description
            assert len(solution.steps) == expected, description
        else:
            assert solution.status is PlanningStatus.UNSOLVABLE or len(solution.steps) > DEPTH, description


@pytest.mark.parametrize("number", quick_every(4, range(0, TASKS, 4)))
def test_a_plan_is_found_if_one_exists(number: int) -> None:
    small = small_task(number)
    answers = {planner.solve(PlanningQuery(small.checker, small.prefix)).status for planner in (KAIROS, FAST_DOWNWARD)}
    assert len(answers) == 1
    assert answers <= {PlanningStatus.SOLVED, PlanningStatus.UNSOLVABLE}


def test_the_tasks_are_of_both_kinds() -> None:
    lengths = [shortest(small.checker, small.prefix, 3) for small in map(small_task, range(TASKS))]
    assert len([n for n in lengths if n is not None]) > TASKS // 4
    assert len([n for n in lengths if n is None]) > TASKS // 4


# -- shipped tasks ----------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("example", ["cleaning", pytest.param("dinner", marks=pytest.mark.whole)])
def test_shipped_household_tasks(planner: Planner, example: str, root: Path) -> None:
    folder = root / "specs" / "plansafe" / "specs"

    def source(path: Path) -> Source:
        return Source(str(path), path.read_text(encoding="utf-8"))

    checker = Checker(
        source(root / "domains" / "plansafe" / "domains" / "household" / "domain.pddl"),
        source(root / "examples" / example / "problem.pddl"),
        [source(folder / "household.safe")],
        resolve=lambda name, _: source(folder / f"{name}.safe"),
    )
    assert checker.ok
    solution = planner.solve(PlanningQuery(checker, time_limit_s=60.0))
    assert solution.status is PlanningStatus.SOLVED
    first = solution.steps[: len(solution.steps) // 2]
    assert planner.solve(PlanningQuery(checker, first, time_limit_s=60.0)).status is PlanningStatus.SOLVED


# -- answers without a search -----------------------------------------------------------------------------------------

DOMAIN = """(define (domain d) (:types room - object) (:predicates (in ?r - room) (seen ?r - room))
  (:functions (far ?a ?b - room) (total-cost) - number)
  (:action go :parameters (?a ?b - room) :precondition (in ?a)
    :effect (and (not (in ?a)) (in ?b) (seen ?b) (increase (total-cost) (far ?a ?b)))))"""
PROBLEM = """(define (problem p) (:domain d) (:objects a b c - room)
  (:init (in a) (= (total-cost) 0) (= (far a b) 1) (= (far b c) 2)) (:goal (in c)) (:metric minimize (total-cost)))"""


@BOTH
def test_steps_with_undefined_cost_are_not_used(planner: Planner) -> None:
    solution = planner.solve(PlanningQuery(checker_of(DOMAIN, PROBLEM), shortest=True))
    assert solution.status is PlanningStatus.SOLVED
    assert [step.objects for step in solution.steps] == [(0, 1), (1, 2)]  # (far a c) has no value: no such step
    assert solution.optimal


@BOTH
@pytest.mark.parametrize("rule", ["", "(define (safety s) (:termination looked :require (once (action (look)))))"])
def test_actions_without_effects(planner: Planner, rule: str) -> None:
    domain = "(define (domain d) (:predicates (p)) (:action look) (:action a :effect (p)))"
    checker = checker_of(domain, "(define (problem p) (:domain d) (:goal (p)))", rule)
    solution = planner.solve(PlanningQuery(checker, shortest=True))
    assert (solution.status, len(solution.steps)) == (PlanningStatus.SOLVED, 2 if rule else 1)


@BOTH
def test_rules_can_be_left_out(planner: Planner) -> None:
    checker = checker_of(DOMAIN, PROBLEM, "(define (safety s) (:process no :forbid (seen b)))")
    assert planner.solve(PlanningQuery(checker)).status is PlanningStatus.UNSOLVABLE
    assert planner.solve(PlanningQuery(checker, rules=False)).status is PlanningStatus.SOLVED


@BOTH
def test_an_empty_continuation(planner: Planner) -> None:
    checker = checker_of(DOMAIN, PROBLEM, "(define (safety s) (:trajectory t :formula (sometime (in b))))")
    steps = [checker.engine.resolver.resolve_step(tokens) for tokens in (("go", "a", "b"), ("go", "b", "c"))]
    prefix = tuple([step for step in steps if isinstance(step, GroundAction)])
    solution = planner.solve(PlanningQuery(checker, prefix, shortest=True))
    assert (solution.status, solution.steps, solution.optimal) == (PlanningStatus.SOLVED, (), True)


@BOTH
def test_a_prefix_that_breaks_a_rule_has_no_safe_continuation(planner: Planner) -> None:
    checker = checker_of(DOMAIN, PROBLEM, "(define (safety s) (:process no :on (go a b) :forbid (in a)))")
    step = checker.engine.resolver.resolve_step(("go", "a", "b"))
    assert isinstance(step, GroundAction)
    solution = planner.solve(PlanningQuery(checker, (step,)))
    assert solution.status is PlanningStatus.UNSOLVABLE
    assert solution.planner == planner.name
    assert "so far" in solution.detail


@BOTH
def test_an_unsupported_task_has_a_reason(planner: Planner) -> None:
    durative = "(define (domain d) (:predicates (p)) (:durative-action a :parameters () :duration (= ?duration 1)))"
    checker = checker_of(durative, "(define (problem p) (:domain d) (:goal (p)))")
    solution = planner.solve(PlanningQuery(checker))
    assert (solution.status, solution.detail) == (PlanningStatus.UNSUPPORTED, "durative actions")


@BOTH
def test_rules_that_count_by_blame_are_not_compiled(planner: Planner) -> None:
    """``(seen b)`` is false from the start on and breaks the rule for good, but no step is to blame for that."""
    sources = [Source("domain", DOMAIN), Source("problem", PROBLEM)]
    rule = Source("rules", "(define (safety s) (:process no :require (seen b)))")
    checker = Checker(*sources, [rule], Options(judge="introduced"))
    assert ForwardSearch().solve(PlanningQuery(checker)).status is PlanningStatus.SOLVED
    solution = planner.solve(PlanningQuery(checker))
    assert (solution.status, "pre-existing" in solution.detail, solution.planner) == (
        PlanningStatus.UNSUPPORTED,
        True,
        planner.name,
    )
    assert planner.solve(PlanningQuery(checker, rules=False)).status is PlanningStatus.SOLVED
    assert planner.solve(PlanningQuery(Checker(*sources, [rule]))).status is PlanningStatus.UNSOLVABLE


@BOTH
@pytest.mark.parametrize(
    "effect",
    [
        "(forall (?c - cleaner) (when (holding ?c) (not (safe))))",
        "(when (exists (?c - cleaner) (holding ?c)) (not (safe)))",
        "(when (exists (?c - cleaner) (and (holding ?c) (not (sliced ?x)))) (not (safe)))",
        "(forall (?c - cleaner) (not (holding ?c)))",
        "(forall (?c - cleaner) (when (holding ?c) (not (holding ?c))))",
    ],
)
def test_invariants_respect_the_types_of_deletes(planner: Planner, effect: str) -> None:
    """Planners that ignore the type of ?c derive wrong invariants with the knife."""
    take = "(:action take :parameters (?i - item) :effect (holding ?i))" if "(safe)" in effect else ""
    domain = f"""(define (domain d) (:types item food - object knife cleaner - item)
      (:predicates (holding ?i - item) (sliced ?x - food) (safe)) {take}
      (:action cut :parameters (?k - knife ?x - food) :precondition (and (safe) (holding ?k))
        :effect (and (sliced ?x) {effect})))"""
    problem = """(define (problem p) (:domain d) (:objects k - knife c - cleaner a b - food)
      (:init (safe) (holding k)) (:goal (and (sliced a) (sliced b))))"""
    solution = planner.solve(PlanningQuery(checker_of(domain, problem), shortest=True))
    assert (solution.status, len(solution.steps), solution.optimal) == (PlanningStatus.SOLVED, 2, True)


@BOTH
def test_a_rule_about_an_actions_past_leaves_a_safe_plan(planner: Planner) -> None:
    """As in ``hands-washed-after-cleaner``: the effect that deletes ``safe`` is quantified over cleaners."""
    domain = """(define (domain d) (:types item food - object knife cleaner - item)
      (:predicates (holding ?i - item) (sliced ?x - food) (wiped))
      (:action take :parameters (?i - item) :effect (holding ?i))
      (:action drop :parameters (?i - item) :precondition (holding ?i) :effect (not (holding ?i)))
      (:action wipe :parameters (?c - cleaner) :precondition (holding ?c) :effect (wiped))
      (:action wash-hands)
      (:action cut :parameters (?k - knife ?x - food) :precondition (holding ?k) :effect (sliced ?x)))"""
    problem = """(define (problem p) (:domain d) (:objects k - knife c - cleaner a b - food)
      (:goal (and (wiped) (sliced a) (sliced b))))"""
    rule = """(define (safety s) (:process hands :parameters (?c - cleaner) :on (cut ?k ?x)
      :forbid (since (not (action (wash-hands))) (holding ?c))))"""
    solution = planner.solve(PlanningQuery(checker_of(domain, problem, rule)))
    assert solution.status is PlanningStatus.SOLVED


def test_a_rule_that_may_be_undefined_is_named() -> None:
    rules = "(define (safety s) (:process near :forbid (> (far a c) 2)))"
    solution = KAIROS.solve(PlanningQuery(checker_of(DOMAIN, PROBLEM, rules)))
    assert solution.status is PlanningStatus.UNSUPPORTED
    assert solution.detail == "rule near: it reads numbers that may be undefined"


def test_derived_predicates_and_numbers() -> None:
    domain = """(define (domain d) (:predicates (on) (lit)) (:functions (level))
      (:derived (lit) (on))
      (:action more :parameters () :effect (increase (level) 1))
      (:action switch :parameters () :precondition (>= (level) 2) :effect (on)))"""
    problem = "(define (problem p) (:domain d) (:init (= (level) 0)) (:goal (lit)))"
    checker = checker_of(domain, problem, "(define (safety s) (:process full :when (lit) :require (>= (level) 3)))")
    solution = KAIROS.solve(PlanningQuery(checker, shortest=True))
    assert solution.status is PlanningStatus.SOLVED
    assert len(solution.steps) == 4
    refused = FAST_DOWNWARD.solve(PlanningQuery(checker))
    assert (refused.status, refused.detail) == (PlanningStatus.UNSUPPORTED, "derived predicates")


def test_unsolvability_with_fractions_is_not_a_proof() -> None:
    domain = """(define (domain d) (:predicates (p)) (:functions (level))
      (:action drop :parameters () :precondition (>= (level) 0.1) :effect (decrease (level) 0.1)))"""
    problem = "(define (problem p) (:domain d) (:init (= (level) 0.3)) (:goal (p)))"
    solution = KAIROS.solve(PlanningQuery(checker_of(domain, problem)))
    assert solution.status is PlanningStatus.NOT_FOUND


def test_a_plan_that_does_not_replay_is_an_error() -> None:
    checker = checker_of(DOMAIN.replace("(increase (total-cost) (far ?a ?b))", ""), PROBLEM)
    query = PlanningQuery(checker)
    question = CompilationCache().print_query(query)
    assert isinstance(question, PrintedQuery)
    with pytest.raises(Disagreement, match="INVALID"):
        confirm_plan(query, question, [("go", "b", "c")], optimal=False, planner="a liar")
    solution = confirm_plan(query, question, [("go", "a", "c")], optimal=False, planner="honest")
    assert isinstance(solution, PlanningResult)
    assert solution.status is PlanningStatus.SOLVED


def test_a_checker_with_errors_is_refused() -> None:
    broken = Checker(Source("d", "(define (domain d)"), Source("p", "(define (problem p) (:domain d) (:goal (p)))"))
    with pytest.raises(ValueError, match="errors"):
        KAIROS.solve(PlanningQuery(broken))


def test_the_working_folder_is_not_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "output.sas").mkdir()  # where Fast Downward would write, and two runs at once would meet
    for planner in (KAIROS, FAST_DOWNWARD):
        assert planner.solve(PlanningQuery(checker_of(DOMAIN, PROBLEM))).status is PlanningStatus.SOLVED
    assert list(tmp_path.iterdir()) == [tmp_path / "output.sas"]
