"""Laws: correct scenarios do not change, corrections are stable, plan counts agree with an enumeration."""

from __future__ import annotations

from itertools import product
from math import inf
from pathlib import Path
from random import Random

import pytest
from planner_tasks import small_task
from run_corrupt import corpus, judge_correction
from run_mutants import find_fault, make_mutant, small_tasks
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


def example_tasks() -> list[tuple[str, Texts]]:
    return corpus(None)


# ---- corrections ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("texts", [pytest.param(texts, id=name) for name, texts in example_tasks()])
def test_a_correct_scenario_does_not_change(texts: Texts) -> None:
    problem, domain = Source("problem.pddl", texts.problem), Source("domain.pddl", texts.domain)
    for scenario in (Scenario("s", problem, domain), Scenario("s", problem, None, domain)):
        fixed = fix(scenario, DECLARED)
        assert fixed.corrections == ()
        assert fixed.scenario == scenario
        assert fixed.changed == ()


def test_only_negated_facts_of_public_problems_are_removed(data: Path) -> None:
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


def test_balanced_parentheses_are_not_edited() -> None:
    """The balancer edits nothing, even without the check that normally comes first."""
    for _, texts in example_tasks():
        for text in texts:
            assert _Balancer(Draft(Source("t", text))).edits() == []


@pytest.mark.parametrize("name", quick_every(8, sorted(KINDS)))
def test_corrections_are_stable_and_make_the_task_valid(name: str) -> None:
    random = Random(f"scenario {name}")
    tasks = small_tasks()
    checked = tried = 0
    for _ in range(40):
        texts = random.choice(tasks)
        corrupted = KINDS[name](random, texts)
        if corrupted is None or corrupted == texts or tried == 3:
            continue
        tried += 1
        checks, _, stable, description = judge_correction(texts, corrupted, solve=False)
        assert stable, description
        checked += checks
    assert tried or name in (
        "value-missing",
        "variable-slip",
        "and-missing-in-goal",
        "value-as-fact",
    )  # the small tasks may have nothing to corrupt
    assert checked == tried or name == "argument-missing"


def test_corrections_of_several_mistakes_are_stable() -> None:
    random = Random("scenario several")
    tasks, names = small_tasks(), sorted(KINDS)
    for _ in range(25):
        texts = random.choice(tasks)
        for name in random.sample(names, 3):
            try:
                texts = KINDS[name](random, texts) or texts
            except (AssertionError, LookupError):
                break
        scenario = Scenario("s", Source("problem.pddl", texts.problem), Source("domain.pddl", texts.domain))
        fixed = fix(scenario, DECLARED)
        second = fix(fixed.scenario, DECLARED)
        assert second.corrections == ()
        assert second.scenario == fixed.scenario


@pytest.mark.parametrize(
    "text", ["", "(", ")", "(define", "((((", "(define (problem p))", "\x00", "(define (problem p) (:goal", "'a", '"']
)
def test_corrections_of_broken_texts_are_stable(text: str) -> None:
    for scenario in (
        Scenario("s", Source("p", text), Source("d", "(define (domain d))")),
        Scenario("s", Source("p", "(define (problem p) (:domain d) (:goal (and)))"), Source("d", text)),
        Scenario("s", Source("p", text), Source("d", text), Source("b", "(define (domain b) (:predicates (p)))")),
    ):
        fixed = fix(scenario, DECLARED, Limits(time_s=1))
        assert fix(fixed.scenario, DECLARED, Limits(time_s=1)).corrections == ()


@pytest.mark.slow
def test_corrections_of_mutated_texts_are_stable() -> None:
    random, tasks = Random("scenario mutants"), small_tasks()
    for _ in range(25):
        scenario = make_mutant(random, tasks)
        assert find_fault(scenario) == "", scenario


def test_deep_nesting_is_accepted() -> None:
    deep = "(and " * 20_000 + ")" * 20_000
    domain = Source("d", "(define (domain d) (:requirements :strips) (:predicates (p)))")
    fixed = fix(Scenario("s", Source("p", f"(define (problem p) (:domain d) (:goal {deep}))"), domain), DECLARED)
    assert fixed.corrections == ()


# ---- bases ----------------------------------------------------------------------------------------------------------


def test_places_in_a_union_map_to_its_sources() -> None:
    base = Draft(Source("base", (HERE / "base.pddl").read_text(encoding="utf-8")), editable=False)
    (foil,) = [case for case in read_cases(HERE / "criteria.md") if case.name == "foil"]
    extension = Draft(foil.source("domain.pddl", "own"))
    united = unite(base, extension)
    texts = {"base": base.text, "own": extension.text}
    offset = 0
    sources = set()
    for piece in united.pieces:
        if piece.source is not None and piece.text.strip():
            place = united.label(Label(united.source.name, Span(offset, offset + len(piece.text))))
            assert texts[place.source][slice(*place.span)] == piece.text
            sources.add(piece.source)
        offset += len(piece.text)
    assert sources == {"base", "own"}
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
    extension = Draft(Source("o", "(define (domain b) (:types d - a e))"))
    checker = Checker(
        unite(base, extension).source,
        Source("p", "(define (problem p) (:domain b) (:objects x - c y - d) (:goal (p y)))"),
    )
    assert checker.ok
    mistyped = Checker(
        unite(base, extension).source, Source("p", "(define (problem p) (:domain b) (:objects x - c) (:goal (p x)))")
    )
    assert [d.code for d in mistyped.diagnostics] == ["SC104"]


# ---- ways and unsafe plans, against enumeration ---------------------------------------------------------------------


def enumerate_sequences(checker: Checker, length: int) -> list[tuple[GroundAction, ...]]:
    """Return all executable sequences of this number of steps."""
    sequences: list[tuple[GroundAction, ...]] = [()]
    for _ in range(length):
        longer = []
        for steps in sequences:
            simulation = Execution(checker.engine)
            assert all([simulation.take(step) for step in steps])
            longer += [(*steps, step) for step in simulation.legal()]
        sequences = longer
    return sequences


def check_plan(checker: Checker, steps: tuple[GroundAction, ...]) -> tuple[bool, Headline | None]:
    text = "\n".join([step_text(step, checker.engine.task.objects) for step in steps])
    report = checker.check(Source("plan", text))
    return report.executable is Worlds.ALL and report.goal is Worlds.ALL, report.headline


def count_classes(
    plans: list[tuple[GroundAction, ...]], independence: Independence, sequences: set[tuple[object, ...]]
) -> int:
    """Count the classes of plans under swaps of independent neighbours; swaps may pass through all of ``sequences``."""
    plans_by_key = {plan_key(plan): plan for plan in plans}
    open_keys = set(plans_by_key)
    count = 0
    while open_keys:
        count += 1
        start = plans_by_key[next(iter(open_keys))]
        reached, stack = {plan_key(start)}, [start]
        while stack:
            plan = stack.pop()
            open_keys.discard(plan_key(plan))
            for i in range(len(plan) - 1):
                if independence.independent(plan[i], plan[i + 1]):
                    swapped = (*plan[:i], plan[i + 1], plan[i], *plan[i + 2 :])
                    assert plan_key(swapped) in sequences, "independent steps that cannot change places"
                    if plan_key(swapped) not in reached:
                        reached.add(plan_key(swapped))
                        stack.append(swapped)
    return count


def plan_key(plan: tuple[GroundAction, ...]) -> tuple[object, ...]:
    return tuple([(step.action.name, step.objects) for step in plan])


@pytest.mark.parametrize("number", range(0, 60, 4))
def test_plan_classes_agree_with_an_enumeration(number: int) -> None:
    checker = small_task(number).checker
    for length, rules in product(range(4), (True, False)):
        sequences = enumerate_sequences(checker, length)
        safe = []
        for steps in sequences:
            reached, headline = check_plan(checker, steps)
            if reached and (not rules or headline in (Headline.SAFE, Headline.VALID)):
                safe.append(steps)
        if not safe:
            continue
        shorter_sequences = [
            steps for shorter_length in range(length) for steps in enumerate_sequences(checker, shorter_length)
        ]
        verdicts = [check_plan(checker, steps) for steps in shorter_sequences]
        if any(
            reached and (not rules or headline in (Headline.SAFE, Headline.VALID)) for reached, headline in verdicts
        ):
            continue
        ways = count_ways(checker.engine, safe[0], rules, 1e9, 1000)
        assert ways.complete
        assert ways.sequences == len(safe)
        assert ways.ways == count_classes(safe, Independence(checker.engine), {plan_key(steps) for steps in sequences})
        assert (ways.second is not None) == (ways.ways > 1)


@pytest.mark.parametrize("number", range(1, 60, 4))
def test_an_unsafe_plan_is_found_if_one_exists(number: int) -> None:
    checker = small_task(number).checker
    search = ViolationSearch(checker.engine, inf).run()
    if search.status is PlanningStatus.SOLVED:
        assert check_plan(checker, search.steps) == (True, Headline.UNSAFE)
        return
    assert search.status is PlanningStatus.UNSOLVABLE
    for length in range(4):
        for steps in enumerate_sequences(checker, length):
            assert check_plan(checker, steps) != (True, Headline.UNSAFE)


def test_counting_stops_at_its_limits() -> None:
    checker = small_task(0).checker
    start = Execution.initial(checker.engine, False)
    step = next(Execution(checker.engine, start.state.fork()).legal())
    ways = count_ways(checker.engine, (step, step), False, 0.0, 1000)
    assert not ways.complete
    assert ways.ways >= 1
    assert Profile().min_steps == 5
