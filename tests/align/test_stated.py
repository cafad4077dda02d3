"""Tasks whose prompts state the rule: twins, references, held-out families and rules."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations

import pytest

from plansafe.align.prompts import plan_prompt
from plansafe.align.stated.drawing import FIRST_HELD_OUT, StatedTask, draw
from plansafe.align.stated.families import FAMILIES, HELD_OUT_FAMILIES, verbs_of
from plansafe.align.stated.lessons import EXTRA_STEP
from plansafe.align.stated.rules import HELD_OUT
from plansafe.align.tasks import BadOrigin, family_of, task_of
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.planning.forward_search import ForwardSearch
from plansafe.verifier.planning.planner import PlanningQuery, PlanningStatus
from plansafe.verifier.reporting.report import Headline, Worlds
from quick import quick_every

ALL_FAMILIES = (*FAMILIES, *HELD_OUT_FAMILIES)
SEED = 9009


def is_finished(checker: Checker, plan: str, headline: Headline = Headline.SAFE) -> bool:
    report = checker.check(Source("plan", plan), confirm=False)
    return report.headline is headline and report.goal is Worlds.ALL


def numbers(first: int, pairs: int) -> list[int]:
    return list(range(first, first + 2 * pairs))


@pytest.mark.parametrize("family", quick_every(5, ALL_FAMILIES))
@pytest.mark.parametrize("first", [0, FIRST_HELD_OUT])
def test_the_shortest_plan_of_one_twin_is_unsafe(family: str, first: int) -> None:
    """So every family has as many tasks with an unsafe shortest plan as with a safe one."""
    if first and family in HELD_OUT_FAMILIES:
        pytest.skip("held-out families are tested with the rules of training")
    for number in numbers(first, 10)[::2]:
        unsafe, safe = draw(family, number, SEED), draw(family, number + 1, SEED)
        assert (unsafe.words, unsafe.plain, unsafe.lesson) == (safe.words, safe.plain, safe.lesson)
        assert unsafe.rule.words != safe.rule.words or unsafe.problem != safe.problem
        assert is_finished(unsafe.checker(), unsafe.plain, Headline.UNSAFE)
        assert is_finished(unsafe.checker(), unsafe.reference)
        assert is_finished(safe.checker(), safe.plain)
        assert safe.reference == safe.plain
        assert (unsafe.is_plain_safe, safe.is_plain_safe) == (False, True)


@pytest.mark.parametrize("family", quick_every(5, ALL_FAMILIES))
def test_no_step_of_a_reference_can_be_deleted(family: str) -> None:
    for number in numbers(100, 6):
        task = draw(family, number, SEED)
        checker, steps = task.checker(), task.reference.splitlines(keepends=True)
        for deleted in range(len(steps)):
            assert not is_finished(checker, "".join([*steps[:deleted], *steps[deleted + 1 :]]))


@pytest.mark.parametrize("family", quick_every(5, ALL_FAMILIES))
def test_plain_plans_and_references_are_shortest(family: str) -> None:
    """The planner finds no shorter plan, without and with the rule."""
    for number in numbers(202, 3):
        task = draw(family, number, SEED)
        for rules, plan in ((False, task.plain), (True, task.reference)):
            query = PlanningQuery(task.checker(), rules=rules, shortest=True, time_limit_s=600.0)
            solution = ForwardSearch(200_000).solve(query)
            assert solution.status is PlanningStatus.SOLVED
            assert len(solution.steps) == len(plan.splitlines())


@pytest.mark.parametrize("family", quick_every(5, ALL_FAMILIES))
def test_the_prompt_states_the_rule_of_the_checker(family: str) -> None:
    for number in [*numbers(0, 5), *(numbers(FIRST_HELD_OUT, 5) if family in FAMILIES else [])]:
        drawing, task = draw(family, number, SEED), task_of(f"stated:{family}/{number}/{SEED}")
        prompt = plan_prompt(task)
        (rule,) = task.checker.rules
        assert (rule.name, rule.message) == (drawing.rule.name, drawing.rule.words)
        assert [line for line in prompt.splitlines() if line.startswith("Never: ")] == [f"Never: {drawing.rule.words}"]
        assert (task.family, task.world, task.words, task.reference) == (
            family,
            "stated",
            drawing.words,
            drawing.reference,
        )
        names = set(re.findall(r"[^\s:,()]+", prompt))
        assert names.issuperset(task.checker.engine.task.objects)
        actions = set(re.findall(r"\((\S+)", prompt.partition("\nroom")[0]))
        assert actions.issuperset(re.findall(r"\((\S+)", drawing.reference))


def test_task_is_deterministic() -> None:
    origin = f"stated:put-start/7/{SEED}"
    assert draw("put-start", 7, SEED) == draw("put-start", 7, SEED)
    assert plan_prompt(task_of(origin)) == plan_prompt(task_of(origin))
    assert family_of(origin) == "put-start"
    assert draw("put-start", 7, SEED) != draw("put-start", 7, SEED + 1)


def test_rule_is_named_by_its_form() -> None:
    """So that figures by rule are about forms of rules, each with the rules of several tasks."""
    names = {draw(family, number, SEED).rule.name for family in FAMILIES[:12] for number in range(40)}
    names |= {draw(family, FIRST_HELD_OUT, SEED).rule.name for family in FAMILIES[:8]}
    assert names.issuperset(
        ("never-wipe", "never-stop-where-person", "never-end-before-stop", "never-leave-before-stop")
    )
    assert {"never-put-before-give", "never-give-before-put", "never-put-before-away"} < names
    assert all([re.fullmatch(r"never-[a-z]+(-where-person|-before-[a-z]+)?", name) for name in names])


def test_an_unknown_family_is_refused() -> None:
    with pytest.raises(BadOrigin, match="unknown family of tasks with stated rules 'put-sing'") as caught:
        task_of("stated:put-sing/0/0")
    assert "put-start" in str(caught.value.help)
    with pytest.raises(KeyError):
        draw("put-sing", 0)


def test_no_pair_of_goals_of_a_held_out_family_is_trained() -> None:
    trained = {frozenset(pair) for family in FAMILIES for pair in combinations(verbs_of(family), 2)}
    for family in HELD_OUT_FAMILIES:
        verbs = frozenset(verbs_of(family))
        assert verbs not in trained
        assert verbs not in {frozenset(verbs_of(name)) for name in FAMILIES}
    assert len(ALL_FAMILIES) == len({frozenset(verbs_of(family)) for family in ALL_FAMILIES}) >= 20


@pytest.fixture(scope="module")
def trained() -> list[StatedTask]:
    return [draw(family, number, SEED) for number in numbers(0, 30) for family in FAMILIES]


@pytest.fixture(scope="module")
def held_out() -> list[StatedTask]:
    return [draw(family, number, SEED) for number in numbers(FIRST_HELD_OUT, 10) for family in FAMILIES]


def test_held_out_rules_occur_in_no_training_task(trained: list[StatedTask], held_out: list[StatedTask]) -> None:
    assert not HELD_OUT & {task.rule.key for task in trained}
    assert {task.rule.key for task in held_out} == HELD_OUT
    words = {word for task in trained for word in task.rule.words.split()}
    assert words.issuperset([word for task in held_out for word in task.rule.words.split()])


def test_half_of_the_lessons_are_about_order_or_choice(trained: list[StatedTask]) -> None:
    """In these, safe and unsafe plan have the same numbers of actions of each verb, but for moves and opened boxes."""
    counts = Counter(task.lesson for task in trained)
    assert sum([counts[lesson] for lesson in EXTRA_STEP]) < len(trained) / 2
    assert min(counts.values()) > len(trained) / 25

    def verbs(plan: str) -> list[str]:
        return sorted([verb for verb in re.findall(r"\((\S+)", plan) if verb not in ("go", "open")])

    for task in trained:
        if task.lesson not in EXTRA_STEP:
            assert verbs(task.plain) == verbs(task.reference)


def test_plan_lengths_are_graded(trained: list[StatedTask]) -> None:
    lengths = Counter([len(task.reference.splitlines()) for task in trained])
    assert lengths.keys() >= {2, *range(4, 13)}
    assert max(lengths.values()) < len(trained) / 3
