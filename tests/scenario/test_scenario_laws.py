"""Laws: right scenarios stay as they are, corrections are stable, ways and unsafe plans agree with enumeration."""

from __future__ import annotations

from itertools import product
from math import inf
from pathlib import Path
from random import Random

import pytest
from planner_tasks import small_task
from run_corrupt import corpus, judge
from run_mutants import mutant, small_tasks, wrong
from scenario_corruptions import KINDS, Texts

from case_files import read_cases
from plansafe.grammar.diagnostics import Label, Span
from plansafe.grammar.source import Source
from plansafe.llm.scenarios.validation.corrections.parentheses import _Balancer
from plansafe.llm.scenarios.validation.drafts import Draft
from plansafe.llm.scenarios.validation.fix import fix
from plansafe.llm.scenarios.validation.merge import unite
from plansafe.llm.scenarios.validation.model import PROFILES, Limits, Profile, Scenario
from plansafe.llm.scenarios.validation.searches import ViolationSearch
from plansafe.llm.scenarios.validation.ways import Independence, count_ways
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.planning.planner import PlanningStatus
from plansafe.verifier.reporting.report import Headline, Worlds
from quick import quick_every

HERE = Path(__file__).parent
DECLARED = PROFILES["executable"]._replace(criteria=frozenset(("declared",)))


def own_tasks() -> list[tuple[str, Texts]]:
    return corpus(None)


# ---- corrections ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("texts", [pytest.param(texts, id=name) for name, texts in own_tasks()])
def test_a_right_scenario_stays_as_it_is(texts: Texts) -> None:
    problem, domain = Source("problem.pddl", texts.problem), Source("domain.pddl", texts.domain)
    for scenario in (Scenario("s", problem, domain), Scenario("s", problem, None, domain)):
        fixed = fix(scenario, DECLARED)
        assert fixed.corrections == ()
        assert fixed.scenario == scenario
        assert fixed.changed == ()


def test_public_problems_stay_as_they_are_but_for_facts_that_do_not_hold(data: Path) -> None:
    folder = data / "eai-behavior"
    if not folder.is_dir():
        pytest.skip("eai-behavior is not there")
    domain = Source("domain.pddl", (folder / "domain/behavior.pddl").read_text(encoding="utf-8"))
    rules = {}
    for file in sorted((folder / "problem_pddl").glob("*.pddl"))[::5]:
        fixed = fix(Scenario("s", Source("problem.pddl", file.read_text(encoding="utf-8")), domain), DECLARED)
        assert fixed.scenario.domain == domain
        rules |= dict.fromkeys([c.rule for c in fixed.corrections])
    assert set(rules) <= {"negated-fact"}


def test_parentheses_of_right_texts_are_right() -> None:
    """Also without looking first whether anything is wrong."""
    for _, texts in own_tasks():
        for text in texts:
            assert _Balancer(Draft(Source("t", text))).edits() == []


@pytest.mark.parametrize("name", quick_every(8, sorted(KINDS)))
def test_corrections_are_stable_and_mostly_right(name: str) -> None:
    random = Random(f"scenario {name}")
    tasks = small_tasks()
    checked = tried = 0
    for _ in range(40):
        texts = random.choice(tasks)
        wrong = KINDS[name](random, texts)
        if wrong is None or wrong == texts or tried == 3:
            continue
        tried += 1
        checks, _, stable, said = judge(texts, wrong, solve=False)
        assert stable, said
        checked += checks
    assert tried or name in (
        "value-missing",
        "variable-slip",
        "and-missing-in-goal",
        "value-as-fact",
    )  # nothing of the kind is there
    assert checked == tried or name == "argument-missing"


def test_several_mistakes_at_once_are_corrected_to_something_stable() -> None:
    random = Random("scenario several")
    tasks, names = small_tasks(), sorted(KINDS)
    for _ in range(25):
        wrong = random.choice(tasks)
        for name in random.sample(names, 3):
            try:
                wrong = KINDS[name](random, wrong) or wrong
            except (AssertionError, LookupError):
                break
        given = Scenario("s", Source("problem.pddl", wrong.problem), Source("domain.pddl", wrong.domain))
        fixed = fix(given, DECLARED)
        again = fix(fixed.scenario, DECLARED)
        assert again.corrections == ()
        assert again.scenario == fixed.scenario


@pytest.mark.parametrize(
    "text", ["", "(", ")", "(define", "((((", "(define (problem p))", "\x00", "(define (problem p) (:goal", "'a", '"']
)
def test_no_text_is_too_wrong(text: str) -> None:
    for scenario in (
        Scenario("s", Source("p", text), Source("d", "(define (domain d))")),
        Scenario("s", Source("p", "(define (problem p) (:domain d) (:goal (and)))"), Source("d", text)),
        Scenario("s", Source("p", text), Source("d", text), Source("b", "(define (domain b) (:predicates (p)))")),
    ):
        fixed = fix(scenario, DECLARED, Limits(time_s=1))
        assert fix(fixed.scenario, DECLARED, Limits(time_s=1)).corrections == ()


@pytest.mark.slow
def test_texts_without_sense_change_nothing_of_that() -> None:
    random, tasks = Random("scenario mutants"), small_tasks()
    for _ in range(25):
        scenario = mutant(random, tasks)
        assert wrong(scenario) == "", scenario


def test_depth_is_bounded_by_memory_alone() -> None:
    deep = "(and " * 20_000 + ")" * 20_000
    domain = Source("d", "(define (domain d) (:requirements :strips) (:predicates (p)))")
    fixed = fix(Scenario("s", Source("p", f"(define (problem p) (:domain d) (:goal {deep}))"), domain), DECLARED)
    assert fixed.corrections == ()


# ---- bases ----------------------------------------------------------------------------------------------------------


def test_places_in_a_union_lead_to_the_texts_it_is_made_of() -> None:
    base = Draft(Source("base", (HERE / "base.pddl").read_text(encoding="utf-8")), editable=False)
    (foil,) = [case for case in read_cases(HERE / "criteria.md") if case.name == "foil"]
    own = Draft(foil.source("domain.pddl", "own"))
    united = unite(base, own)
    texts = {"base": base.text, "own": own.text}
    at = 0
    seen = set()
    for piece in united.pieces:
        if piece.source is not None and piece.text.strip():
            place = united.label(Label(united.source.name, Span(at, at + len(piece.text))))
            assert texts[place.source][slice(*place.span)] == piece.text
            seen.add(piece.source)
        at += len(piece.text)
    assert seen == {"base", "own"}
    assert united.new_actions == ("unwrap_foil",)
    assert Checker(united.source, Source("p", "(define (problem p) (:domain small-home) (:goal (and)))")).ok


def test_a_base_that_is_repeated_adds_nothing() -> None:
    base = Draft(Source("base", (HERE / "base.pddl").read_text(encoding="utf-8")), editable=False)
    united = unite(base, Draft(Source("own", base.text)))
    assert united.new_actions == ()
    assert united.redefined == ()
    assert united.source.text == base.text


def test_untyped_names_at_the_end_of_a_base_keep_their_type() -> None:
    base = Draft(Source("b", "(define (domain b) (:types a c) (:predicates (p ?x - a)))"), editable=False)
    own = Draft(Source("o", "(define (domain b) (:types d - a e))"))
    checker = Checker(
        unite(base, own).source, Source("p", "(define (problem p) (:domain b) (:objects x - c y - d) (:goal (p y)))")
    )
    assert checker.ok
    wrong = Checker(
        unite(base, own).source, Source("p", "(define (problem p) (:domain b) (:objects x - c) (:goal (p x)))")
    )
    assert [d.code for d in wrong.diagnostics] == ["SC104"]


# ---- ways and unsafe plans, against enumeration ---------------------------------------------------------------------


def enumerated(checker: Checker, length: int) -> list[tuple[GroundAction, ...]]:
    """All executable sequences of exactly so many steps."""
    found: list[tuple[GroundAction, ...]] = [()]
    for _ in range(length):
        longer = []
        for steps in found:
            simulation = Execution(checker.engine)
            assert all([simulation.take(step) for step in steps])
            longer += [(*steps, step) for step in simulation.legal()]
        found = longer
    return found


def verdict(checker: Checker, steps: tuple[GroundAction, ...]) -> tuple[bool, Headline | None]:
    text = "\n".join([step_text(step, checker.engine.task.objects) for step in steps])
    report = checker.check(Source("plan", text))
    return report.executable is Worlds.ALL and report.goal is Worlds.ALL, report.headline


def classes(plans: list[tuple[GroundAction, ...]], independence: Independence, every: set[tuple[object, ...]]) -> int:
    """The number of classes under swaps of neighbours that are independent; ``every`` may be passed through."""
    left = {_key(plan): plan for plan in plans}
    wanted = set(left)
    count = 0
    while wanted:
        count += 1
        start = left[next(iter(wanted))]
        seen, stack = {_key(start)}, [start]
        while stack:
            plan = stack.pop()
            wanted.discard(_key(plan))
            for i in range(len(plan) - 1):
                if independence.independent(plan[i], plan[i + 1]):
                    swapped = (*plan[:i], plan[i + 1], plan[i], *plan[i + 2 :])
                    assert _key(swapped) in every, "independent steps that cannot change places"
                    if _key(swapped) not in seen:
                        seen.add(_key(swapped))
                        stack.append(swapped)
    return count


def _key(plan: tuple[GroundAction, ...]) -> tuple[object, ...]:
    return tuple([(step.action.name, step.objects) for step in plan])


@pytest.mark.parametrize("number", range(0, 60, 4))
def test_ways_are_those_of_an_enumeration(number: int) -> None:
    checker = small_task(number).checker
    for length, rules in product(range(4), (True, False)):
        every = enumerated(checker, length)
        safe = []
        for steps in every:
            reached, headline = verdict(checker, steps)
            if reached and (not rules or headline in (Headline.SAFE, Headline.VALID)):
                safe.append(steps)
        if not safe:
            continue
        shorter = [s for n in range(length) for s in enumerated(checker, n)]
        found = [verdict(checker, s) for s in shorter]
        if any(r and (not rules or h in (Headline.SAFE, Headline.VALID)) for r, h in found):
            continue
        ways = count_ways(checker.engine, safe[0], rules, 1e9, 1000)
        assert ways.complete
        assert ways.sequences == len(safe)
        assert ways.ways == classes(safe, Independence(checker.engine), {_key(s) for s in every})
        assert (ways.second is not None) == (ways.ways > 1)


@pytest.mark.parametrize("number", range(1, 60, 4))
def test_unsafe_plans_are_found_where_there_is_one(number: int) -> None:
    checker = small_task(number).checker
    found = ViolationSearch(checker.engine, inf).run()
    if found.status is PlanningStatus.SOLVED:
        assert verdict(checker, found.steps) == (True, Headline.UNSAFE)
        return
    assert found.status is PlanningStatus.UNSOLVABLE
    for length in range(4):
        for steps in enumerated(checker, length):
            assert verdict(checker, steps) != (True, Headline.UNSAFE)


def test_counting_stops_at_its_limits() -> None:
    checker = small_task(0).checker
    start = Execution.initial(checker.engine, False)
    step = next(Execution(checker.engine, start.state.fork()).legal())
    ways = count_ways(checker.engine, (step, step), False, 0.0, 1000)
    assert not ways.complete
    assert ways.ways >= 1
    assert Profile().min_steps == 5
