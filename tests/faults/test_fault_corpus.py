"""The corpus of seeded faults: each fault breaks its plan, has the stated kind, and is reproducible from the seed."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from bench.faults import sources
from bench.faults.corpus import KINDS, Case, PlanEdit, apply_edits, generate_corpus, plan_fifth, source_quotas
from bench.faults.depot import depot_task
from bench.faults.household import household_task
from bench.faults.reachable import RelaxedReachability
from bench.faults.survey import survey_task
from bench.faults.task import GOOD, SeedTask, is_good, plan_source

from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.reporting.report import Headline


@cache
def small_tasks() -> dict[str, list[SeedTask]]:
    return {
        "household": [household_task("test", 14)],
        "depot": [depot_task("test", 12), depot_task("test", 20)],
        "survey": [survey_task("test", 16)],
    }


@cache
def cases() -> list[Case]:
    return generate_corpus(7, singles=42, doubles=15, sources=small_tasks())


@pytest.mark.parametrize("length", [8, 23, 40])
@pytest.mark.parametrize("maker", [household_task, depot_task, survey_task])
def test_generated_plans_are_good_and_have_their_length(maker, length: int) -> None:
    try:
        task = maker(f"length-{length}", length)
    except ValueError:
        assert maker is depot_task  # no deliveries of 9, 11, 13 or 15 steps
        assert length < 16
        return
    assert len(task.gold) == length
    assert is_good(task.checker(), task.gold)
    expected = Headline.SAFE if task.specs else Headline.VALID
    assert task.checker().check(plan_source(task.gold)).headline is expected


@pytest.mark.slow
def test_the_same_seed_gives_the_same_corpus() -> None:
    quick = {name: tasks for name, tasks in small_tasks().items() if name != "household"}
    first, second, third = [generate_corpus(seed, singles=12, doubles=4, sources=quick) for seed in (7, 7, 8)]
    assert [(case.name, case.steps, case.faults) for case in first] == [
        (case.name, case.steps, case.faults) for case in second
    ]
    assert [case.steps for case in first] != [case.steps for case in third]


@pytest.mark.slow
def test_each_fault_breaks_the_plan_alone_and_with_the_second() -> None:
    assert Counter(len(case.faults) for case in cases()) == {1: 42, 2: 15}
    for case in cases():
        checker = case.task.checker()
        headline = checker.check(case.plan).headline
        assert headline in (Headline.INVALID, Headline.UNSAFE)
        assert case.hazard == (headline is Headline.UNSAFE)
        assert len({fault.position for fault in case.faults}) == len(case.faults)
        for fault in case.faults:
            assert 1 <= fault.position <= len(case.task.gold)
            alone = apply_edits(case.task.gold, [fault.edit])
            assert checker.check(plan_source(alone)).headline not in GOOD


def test_all_kinds_and_hazards_occur() -> None:
    kinds = Counter(fault.kind for case in cases() for fault in case.faults)
    assert set(kinds) == set(KINDS)
    assert max(kinds.values()) - min(kinds.values()) <= 9
    assert any(case.hazard for case in cases())


def test_faults_have_the_stated_kind() -> None:
    for case in cases():
        if len(case.faults) != 1:
            continue
        (fault,) = case.faults
        gold, steps = Counter(case.task.gold), Counter(case.steps)
        engine = case.task.checker().engine
        new = [engine.resolver.resolve_tokens(text[1:-1].split()) for text in steps - gold]
        match fault.kind:
            case "missing":
                assert (sum((gold - steps).values()), new) == (1, [])
            case "order":
                assert gold == steps
            case "additional":
                assert gold - steps == Counter()
                assert len(case.steps) == len(case.task.gold) + 1
            case "substitute":
                assert len(case.steps) == len(case.task.gold)
                assert all(isinstance(step, GroundAction) for step in new)
                reachable = RelaxedReachability(engine.task)
                assert all(reachable.is_reachable(step) for step in new)
            case "grammar":
                assert next(step.code for step in new if isinstance(step, IllFormed)) in ("SC401", "SC402", "SC403")
            case "affordance":
                (step,) = new
                if isinstance(step, IllFormed):
                    assert step.code == "SC404"
                else:
                    assert not RelaxedReachability(engine.task).is_reachable(step)


def test_edits_refer_to_positions_of_the_gold_plan() -> None:
    gold = ("a", "b", "c", "d")
    assert apply_edits(gold, [PlanEdit(step=2)]) == ("a", "c", "d")
    assert apply_edits(gold, [PlanEdit(step=2, text="x")]) == ("a", "x", "c", "d")
    assert apply_edits(gold, [PlanEdit(text="x", before=5)]) == ("a", "b", "c", "d", "x")
    assert apply_edits(gold, [PlanEdit(step=4, before=1)]) == ("d", "a", "b", "c")
    assert apply_edits(gold, [PlanEdit(step=1, before=5)]) == ("b", "c", "d", "a")
    # next to a step that is deleted or moved
    assert apply_edits(gold, [PlanEdit(step=3), PlanEdit(text="x", before=3)]) == ("a", "b", "x", "d")
    assert apply_edits(gold, [PlanEdit(step=1, before=3), PlanEdit(step=3)]) == ("b", "a", "d")
    assert apply_edits(gold, [PlanEdit(step=3, before=1), PlanEdit(step=4, before=3)]) in (
        ("c", "a", "b", "d"),
        ("d", "c", "a", "b"),
    )


def test_quotas_add_up() -> None:
    assert sum(source_quotas(360, ["behavior", "virtualhome", "household", "depot", "survey"]).values()) == 360
    assert sum(source_quotas(7, ["household", "depot", "survey"]).values()) == 7
    assert [plan_fifth(position, 5) for position in range(1, 6)] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("task", [depot_task("reach", 24), survey_task("reach", 24)], ids=["depot", "survey"])
def test_steps_of_the_gold_plan_are_reachable(task: SeedTask) -> None:
    engine = task.checker().engine
    reachable = set(RelaxedReachability(engine.task).step_texts())
    assert set(task.gold) <= reachable


def test_an_unreachable_step() -> None:
    task = survey_task("reach", 24)
    engine = task.checker().engine
    reachable = RelaxedReachability(engine.task)
    assert not reachable.is_reachable(engine.resolver.resolve_tokens(("move", "ada", "p0", "p5")))
    assert not reachable.is_reachable(engine.resolver.resolve_tokens(("picture", "ada", "bea-camera", "board2", "p2")))
    assert reachable.is_reachable(engine.resolver.resolve_tokens(("picture", "ada", "ada-camera", "board2", "p2")))


@pytest.mark.slow
def test_published_gold_plans(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANSAFE_DATA", str(data))
    behavior = sources.published_tasks("eai-behavior", "behavior.pddl", lenient=False)
    assert len(behavior) >= 60
    corpus = generate_corpus(1, singles=12, doubles=4, sources={"behavior": behavior})
    assert len(corpus) == 16
    assert all(case.task.checker().check(case.plan).headline not in GOOD for case in corpus)
