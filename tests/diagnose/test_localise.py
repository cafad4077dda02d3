"""Where a plan went wrong: against exhaustive search on random tasks, and case by case."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tiny_tasks import calls_allowed, cases, differences, expected

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.diagnose.localise import Localisation, count_needed_calls, localise
from plansafe.verifier.planning.forward_search import ForwardSearch
from plansafe.verifier.planning.planner import PlanningQuery, PlanningResult, PlanningStatus
from plansafe.verifier.planning.planner_chain import PlannerChain, make_default_planners

PART = 125
DOMAIN = """
(define (domain corridor) (:types place)
  (:predicates (at ?p - place) (next ?p ?q - place) (lit) (broken))
  (:action walk :parameters (?p ?q - place) :precondition (and (at ?p) (next ?p ?q) (not (broken)))
    :effect (and (not (at ?p)) (at ?q)))
  (:action light :parameters () :effect (lit))
  (:action dim :parameters () :effect (not (lit)))
  (:action break :parameters () :effect (broken)))
"""
PROBLEM = """
(define (problem p) (:domain corridor) (:objects a b c d e - place)
  (:init (at a) (next a b) (next b c) (next c d) (next d e) (next b a) (next c b) (next d c)) (:goal (at e)))
"""
RULES = "(define (safety s) (:process lit-at-the-door :on (walk d e) :require (lit)) (:termination dark :forbid (lit)))"


def corridor(**options: object) -> Checker:
    texts = [Source(n, t) for n, t in (("d", DOMAIN), ("p", PROBLEM), ("s", RULES))]
    return Checker(texts[0], texts[1], [texts[2]], Options(**options))  # type: ignore[arg-type]


def plan(text: str) -> Source:
    """Steps by their initials and places: ``ab bc`` walks, ``l`` lights, ``d`` dims, ``x`` breaks."""
    words = {"l": "(light)", "d": "(dim)", "x": "(break)"}
    return Source("plan", "\n".join(words.get(word) or f"(walk {word[0]} {word[1]})" for word in text.split()))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_equals_exhaustive_search(part: int) -> None:
    """625 tasks: point of no return, regret, fatal step, v, x, and the number of calls."""
    planner, counts = ForwardSearch(), Counter[str]()
    for seed, case in cases(f"suite {part}", PART):
        assert differences(case, planner) == [], (seed, case.task, case.plan)
        point = expected(case).point_of_no_return
        counts["none" if point < 0 else "all" if point == len(case.plan) else "some"] += 1
    assert min(counts[kind] for kind in ("none", "all", "some")) >= 10


class Script:
    """A planner with a prepared answer for each length of the prefix."""

    name = "script"

    def __init__(
        self, answers: dict[int, PlanningStatus], otherwise: PlanningStatus = PlanningStatus.NOT_FOUND
    ) -> None:
        self.answers = answers
        self.otherwise = otherwise
        self.queried_lengths: list[int] = []

    def available(self) -> bool:
        return True

    def solve(self, query: PlanningQuery) -> PlanningResult:
        self.queried_lengths.append(len(query.prefix))
        return PlanningResult(self.answers.get(len(query.prefix), self.otherwise), detail="scripted", planner=self.name)


@pytest.mark.parametrize("length", range(1, 40))
def test_binary_search_finds_every_point_within_its_calls(length: int) -> None:
    checker = corridor()
    text = "ab ba " * length
    steps = " ".join(text.split()[:length])
    for point in range(-1, length + 1):
        answers = {n: PlanningStatus.SOLVED if n <= point else PlanningStatus.UNSOLVABLE for n in range(length + 1)}
        script = Script(answers)
        location = localise(checker, plan(steps), planner=script)
        assert location.last_safe == point
        assert location.planner_calls == len(script.queried_lengths) <= calls_allowed(length)
        assert len(set(script.queried_lengths)) == len(script.queried_lengths)


@pytest.mark.parametrize("length", range(1, 14))
def test_unanswered_queries_widen_the_interval(length: int) -> None:
    checker = corridor()
    steps = " ".join(("ab ba " * length).split()[:length])
    for point in range(-1, length + 1):
        for unknown in range(length + 1):
            answers = {n: PlanningStatus.SOLVED if n <= point else PlanningStatus.UNSOLVABLE for n in range(length + 1)}
            script = Script({**answers, unknown: PlanningStatus.NOT_FOUND})
            location = localise(checker, plan(steps), planner=script)
            low, high = location.point_of_no_return
            assert low <= point <= high
            assert location.planner_calls <= calls_allowed(length)
            if unknown in script.queried_lengths and not low < unknown <= high:
                assert location.detail == "script: scripted"


def test_a_planner_without_answers_leaves_the_widest_interval() -> None:
    location = localise(corridor(), plan("ab bc cd"), planner=Script({}))
    assert location.point_of_no_return == (-1, 3)
    assert (location.last_safe, location.fatal, location.planners) == (None, None, ("script",))
    assert location.detail == "script: scripted"


def test_calls_at_most() -> None:
    assert [count_needed_calls(n) for n in (1, 2, 3, 4, 5, 8, 9)] == [0, 1, 2, 2, 3, 3, 4]


@pytest.mark.parametrize(
    ("text", "violated", "inexecutable", "point"),
    [
        ("ab bc cd l de d", None, None, 6),
        ("ab bc cd l de", 5, None, 5),  # the light can still be put out
        ("ab bc cd de", 4, None, 3),
        ("ab x bc", None, 3, 1),
        ("x", None, None, 0),
        ("ab cd", None, 2, 1),
        ("", None, None, 0),
    ],
)
def test_indices(text: str, violated: int | None, inexecutable: int | None, point: int) -> None:
    location = localise(corridor(), plan(text), planner=ForwardSearch())
    assert (location.violated, location.inexecutable, location.last_safe) == (violated, inexecutable, point)
    assert location.fatal == (None if point == location.steps else point + 1)
    assert location.regret is None


def test_a_safe_plan_needs_no_planner() -> None:
    script = Script({})
    location = localise(corridor(), plan("ab bc cd l de d"), planner=script)
    assert (location.last_safe, location.planner_calls, script.queried_lengths) == (6, 0, [])


def test_regret_is_what_a_step_costs() -> None:
    location = localise(corridor(), plan("ab ba l ab x"), planner=ForwardSearch(), regret=True)
    # Back and forth wastes one step each; the light has to be lit anyhow; after the break nothing helps.
    assert location.last_safe == 4
    assert location.regret == (0, 2, 0, 0, None)


def test_regret_that_is_not_proved_is_not_reported() -> None:
    class Longer(ForwardSearch):
        def solve(self, query: PlanningQuery) -> PlanningResult:
            return super().solve(query)._replace(optimal=False)

    location = localise(corridor(), plan("ab bc"), planner=Longer(), regret=True)
    assert (location.last_safe, location.regret, location.regret_calls) == (2, (None, None), 3)


@pytest.mark.parametrize(
    ("ours", "theirs", "divergence"),
    [("ab bc", "ab bc", None), ("ab bc", "ab ba", 2), ("ab", "ab bc", 2), ("ab bc", "ab", 2), ("", "ab", 1)],
)
def test_divergence(ours: str, theirs: str, divergence: int | None) -> None:
    assert localise(corridor(), plan(ours), plan(theirs), ForwardSearch()).divergence == divergence


def test_blame_decides_what_counts() -> None:
    """A violation before the plan does not exclude continuations if only introduced violations count."""
    problem = PROBLEM.replace("(at a) ", "(at a) (broken) ").replace("(goal (at e))", "(goal (lit))")
    rules = "(define (safety s) (:process whole :forbid (broken)))"
    texts = [
        Source(n, t) for n, t in (("d", DOMAIN), ("p", problem.replace(":goal (at e)", ":goal (lit)")), ("s", rules))
    ]
    for judge, point in ("all", -1), ("introduced", 1):
        checker = Checker(texts[0], texts[1], [texts[2]], Options(judge=judge))
        assert localise(checker, plan("d"), planner=ForwardSearch()).last_safe == point


def test_timed_plans_are_left_open() -> None:
    location = localise(corridor(), Source("plan", "1: (walk a b)\n2: (walk a b)\n"), planner=ForwardSearch())
    assert (location.inexecutable, location.point_of_no_return, location.planner_calls) == (2, (-1, 2), 0)
    assert "timed" in location.detail


def test_errors_are_reported() -> None:
    with pytest.raises(ValueError, match="domain, problem or specification"):
        localise(Checker(Source("d", "("), Source("p", PROBLEM)), plan("ab"))
    with pytest.raises(ValueError, match="plan cannot be read"):
        localise(corridor(), Source("plan", "(walk a"))
    with pytest.raises(ValueError, match="reference plan cannot be read"):
        localise(corridor(), plan("ab"), Source("reference", "(walk a"))


def test_a_chain_asks_the_next_where_one_gives_up() -> None:
    silent, knowing = Script({}, PlanningStatus.UNSUPPORTED), Script({}, PlanningStatus.UNSOLVABLE)
    chain = PlannerChain([silent, knowing, Script({}, PlanningStatus.SOLVED)])
    assert chain.solve(PlanningQuery(corridor())).status is PlanningStatus.UNSOLVABLE
    assert PlannerChain([silent, Script({})]).solve(PlanningQuery(corridor())).status is PlanningStatus.NOT_FOUND
    assert (
        PlannerChain([Script({}, PlanningStatus.SOLVED), ForwardSearch()])
        .solve(PlanningQuery(corridor(), shortest=True))
        .optimal
    )
    assert (
        PlannerChain([Script({}, PlanningStatus.SOLVED), silent]).solve(PlanningQuery(corridor(), shortest=True)).status
        is PlanningStatus.SOLVED
    )


def test_a_chain_survives_programs_that_fail() -> None:
    class Failing(Script):
        def solve(self, query: PlanningQuery) -> PlanningResult:
            raise RuntimeError("exit code 9")

    assert (
        PlannerChain([Failing({}), ForwardSearch()], (RuntimeError,)).solve(PlanningQuery(corridor())).status
        is PlanningStatus.SOLVED
    )
    assert PlannerChain([Failing({})], (RuntimeError,)).solve(PlanningQuery(corridor())).detail == "exit code 9"
    with pytest.raises(RuntimeError):
        PlannerChain([Failing({})]).solve(PlanningQuery(corridor()))


def test_a_chain_needs_a_planner() -> None:
    class Missing(Script):
        def available(self) -> bool:
            return False

    with pytest.raises(ValueError, match="no planner"):
        PlannerChain([Missing({})])
    assert PlannerChain([Missing({}), ForwardSearch()]).name == "own search"


def test_shipped_examples(root: Path) -> None:
    """Each broken example of the kitchen has a safe continuation until the step before the fatal one."""
    locations = {
        name: _example(root, name) for name in ("dinner/same-knife", "dinner/hands-full", "breakfast/unknown-action")
    }
    assert {
        name: (location.violated, location.inexecutable, location.fatal) for name, location in locations.items()
    } == {
        "dinner/same-knife": (12, None, 12),
        "dinner/hands-full": (None, 8, 8),
        "breakfast/unknown-action": (None, 6, 6),
    }


def _example(root: Path, name: str) -> Localisation:
    def source(path: Path) -> Source:
        return Source(str(path), path.read_text(encoding="utf-8"))

    specs = root / "specs/plansafe/specs"
    checker = Checker(
        source(root / "domains/plansafe/domains/household/domain.pddl"),
        source(root / "examples" / Path(name).parent / "problem.pddl"),
        [source(specs / "household.safe")],
        resolve=lambda name, _: source(specs / f"{name}.safe"),
    )
    return localise(checker, source(root / "examples" / f"{name}.plan"), planner=ForwardSearch(), time_limit_s=120)


def test_the_default_planners_agree_with_exhaustive_search() -> None:
    planner = make_default_planners()
    for seed, case in cases("default", 12):
        assert differences(case, planner) == [], (seed, case.task, case.plan)
