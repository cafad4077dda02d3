"""Where a plan went wrong: against exhaustive search on random tasks, and case by case."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tiny_tasks import calls_allowed, cases, differences, expected

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.diagnose.localise import Localisation, calls_at_most, localise
from plansafe.verifier.planning.forward_search import ForwardSearch
from plansafe.verifier.planning.planner import PlanningQuery, PlanningResult, PlanningStatus
from plansafe.verifier.planning.planner_chain import PlannerChain, default_planners

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
    return Source("plan", "\n".join(words.get(w) or f"(walk {w[0]} {w[1]})" for w in text.split()))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_equals_exhaustive_search(part: int) -> None:
    """625 tasks: the point of no return, the regret, the fatal step, v and x; and never too many calls."""
    planner, seen = ForwardSearch(), Counter[str]()
    for seed, case in cases(f"suite {part}", PART):
        assert differences(case, planner) == [], (seed, case.task, case.plan)
        point = expected(case).point_of_no_return
        seen["none" if point < 0 else "all" if point == len(case.plan) else "some"] += 1
    assert min(seen[kind] for kind in ("none", "all", "some")) >= 10


class Script:
    """A planner with answers prepared for the lengths of the prefixes."""

    name = "script"

    def __init__(
        self, answers: dict[int, PlanningStatus], otherwise: PlanningStatus = PlanningStatus.NOT_FOUND
    ) -> None:
        self.answers = answers
        self.otherwise = otherwise
        self.asked: list[int] = []

    def available(self) -> bool:
        return True

    def solve(self, query: PlanningQuery) -> PlanningResult:
        self.asked.append(len(query.prefix))
        return PlanningResult(self.answers.get(len(query.prefix), self.otherwise), detail="as told", planner=self.name)


@pytest.mark.parametrize("length", range(1, 40))
def test_binary_search_finds_every_point_within_its_calls(length: int) -> None:
    checker = corridor()
    text = "ab ba " * length
    steps = " ".join(text.split()[:length])
    for point in range(-1, length + 1):
        answers = {n: PlanningStatus.SOLVED if n <= point else PlanningStatus.UNSOLVABLE for n in range(length + 1)}
        script = Script(answers)
        found = localise(checker, plan(steps), planner=script)
        assert found.last_safe == point
        assert found.planner_calls == len(script.asked) <= calls_allowed(length)
        assert len(set(script.asked)) == len(script.asked)


@pytest.mark.parametrize("length", range(1, 14))
def test_what_is_not_found_widens_the_interval_and_is_never_guessed(length: int) -> None:
    checker = corridor()
    steps = " ".join(("ab ba " * length).split()[:length])
    for point in range(-1, length + 1):
        for unknown in range(length + 1):
            answers = {n: PlanningStatus.SOLVED if n <= point else PlanningStatus.UNSOLVABLE for n in range(length + 1)}
            script = Script({**answers, unknown: PlanningStatus.NOT_FOUND})
            found = localise(checker, plan(steps), planner=script)
            low, high = found.point_of_no_return
            assert low <= point <= high
            assert found.planner_calls <= calls_allowed(length)
            if unknown in script.asked and not low < unknown <= high:
                assert found.detail == "script: as told"


def test_a_planner_that_knows_nothing_leaves_everything_open() -> None:
    found = localise(corridor(), plan("ab bc cd"), planner=Script({}))
    assert found.point_of_no_return == (-1, 3)
    assert (found.last_safe, found.fatal, found.planners) == (None, None, ("script",))
    assert found.detail == "script: as told"


def test_calls_at_most() -> None:
    assert [calls_at_most(n) for n in (1, 2, 3, 4, 5, 8, 9)] == [0, 1, 2, 2, 3, 3, 4]


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
    found = localise(corridor(), plan(text), planner=ForwardSearch())
    assert (found.violated, found.inexecutable, found.last_safe) == (violated, inexecutable, point)
    assert found.fatal == (None if point == found.steps else point + 1)
    assert found.regret is None


def test_a_safe_plan_needs_no_planner() -> None:
    script = Script({})
    found = localise(corridor(), plan("ab bc cd l de d"), planner=script)
    assert (found.last_safe, found.planner_calls, script.asked) == (6, 0, [])


def test_regret_is_what_a_step_costs() -> None:
    found = localise(corridor(), plan("ab ba l ab x"), planner=ForwardSearch(), regret=True)
    # Back and forth wastes one step each; the light has to be lit anyhow; after the break nothing helps.
    assert found.last_safe == 4
    assert found.regret == (0, 2, 0, 0, None)


def test_regret_that_is_not_proved_is_not_told() -> None:
    class Longer(ForwardSearch):
        def solve(self, query: PlanningQuery) -> PlanningResult:
            return super().solve(query)._replace(optimal=False)

    found = localise(corridor(), plan("ab bc"), planner=Longer(), regret=True)
    assert (found.last_safe, found.regret, found.regret_calls) == (2, (None, None), 3)


@pytest.mark.parametrize(
    ("ours", "theirs", "divergence"),
    [("ab bc", "ab bc", None), ("ab bc", "ab ba", 2), ("ab", "ab bc", 2), ("ab bc", "ab", 2), ("", "ab", 1)],
)
def test_divergence(ours: str, theirs: str, divergence: int | None) -> None:
    assert localise(corridor(), plan(ours), plan(theirs), ForwardSearch()).divergence == divergence


def test_blame_decides_what_counts() -> None:
    """What was wrong before the plan began does not make every plan lost, if only what it introduces counts."""
    problem = PROBLEM.replace("(at a) ", "(at a) (broken) ").replace("(goal (at e))", "(goal (lit))")
    rules = "(define (safety s) (:process whole :forbid (broken)))"
    texts = [
        Source(n, t) for n, t in (("d", DOMAIN), ("p", problem.replace(":goal (at e)", ":goal (lit)")), ("s", rules))
    ]
    for judge, point in ("all", -1), ("introduced", 1):
        checker = Checker(texts[0], texts[1], [texts[2]], Options(judge=judge))
        assert localise(checker, plan("d"), planner=ForwardSearch()).last_safe == point


def test_timed_plans_are_left_open() -> None:
    found = localise(corridor(), Source("plan", "1: (walk a b)\n2: (walk a b)\n"), planner=ForwardSearch())
    assert (found.inexecutable, found.point_of_no_return, found.planner_calls) == (2, (-1, 2), 0)
    assert "timed" in found.detail


def test_errors_are_told() -> None:
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
    """Each broken example of the kitchen can be saved up to the step before the one that breaks it."""
    found = {
        name: _example(root, name) for name in ("dinner/same-knife", "dinner/hands-full", "breakfast/unknown-action")
    }
    assert {name: (f.violated, f.inexecutable, f.fatal) for name, f in found.items()} == {
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
        resolve=lambda wanted, _: source(specs / f"{wanted}.safe"),
    )
    return localise(checker, source(root / "examples" / f"{name}.plan"), planner=ForwardSearch(), time_limit_s=120)


def test_the_default_planners_agree_with_exhaustive_search() -> None:
    planner = default_planners()
    for seed, case in cases("default", 12):
        assert differences(case, planner) == [], (seed, case.task, case.plan)
