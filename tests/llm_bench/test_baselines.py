"""Safe-BeAl's baselines, the mocks that always refuse or accept, and the plan of cells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_tasks import ARSON, TEA, Run, task

from plansafe.llm.bench.baselines import choose_example, complete_skeleton, without_rules
from plansafe.llm.bench.cells import CELLS, FEW, MANY, Speed, estimate_seconds
from plansafe.llm.bench.figures import SAFEL, SAFEPLAN, estimate
from plansafe.llm.bench.judging import safeplan_taxonomy
from plansafe.llm.bench.mocks import REFERENCE_VALUES, mock_predictions
from plansafe.llm.bench.questions import questions
from plansafe.llm.bench.scoring import score
from plansafe.llm.bench.settings import Baseline, SafetyPrompt, Settings, Suite
from plansafe.llm.metrics.records import Module
from shared_kitchen import SAFE

COFFEE = task("coffee", "(hot hob)", family="drinks")
JUICE = task("juice", "(robot-in hall)", family="drinks")
TASKS = (TEA, ARSON, COFFEE, JUICE)


def test_an_example_comes_from_another_family() -> None:
    for baseline in (Baseline.FEW_SHOT, Baseline.LLM_PLANNER, Baseline.LLM_PLANNER_REPLAN):
        (example,) = choose_example(COFFEE, TASKS, baseline, 0)
        assert (example.words, example.plan) == (TEA.words, TEA.reference), "the only other family with a plan"
    for baseline in (Baseline.ZERO_SHOT, Baseline.CLMASP, Baseline.WORLD_MODEL):
        assert choose_example(COFFEE, TASKS, baseline, 0) == ()
    assert choose_example(COFFEE, (COFFEE, JUICE), Baseline.FEW_SHOT, 0) == ()


def test_few_shot_draws_by_seed_and_llm_planner_takes_the_nearest() -> None:
    other_tasks = tuple([task(f"errand-{word}", "(hot hob)", family=word) for word in ("a", "b", "c", "d")])
    near = task("errand-a-now", "(hot hob)", family="now")
    example_words = {choose_example(near, other_tasks, Baseline.FEW_SHOT, seed)[0].words for seed in range(20)}
    assert len(example_words) > 1
    assert choose_example(near, other_tasks, Baseline.LLM_PLANNER, 7)[0].words == "Do errand-a."


def test_a_skeleton_is_completed_and_the_rules_are_ignored() -> None:
    checker = without_rules(TEA.checker)
    steps = SAFE.splitlines()
    full = complete_skeleton(SAFE, checker, 40)
    assert full.splitlines() == steps, "an executable plan stays as it is"
    completed = complete_skeleton("(switch-off hob kitchen)\n(fly robot)\n", checker, 40).splitlines()
    assert completed == ["(switch-on hob kitchen)", "(switch-off hob kitchen)"], (
        "a step is inserted, and the unknown one left out"
    )
    assert complete_skeleton("I do not know.", checker, 40) == ""
    assert complete_skeleton("(switch-off hob kitchen)", checker, 1) == "", "it would be too long"


def test_the_style_names_baseline_and_safety_prompt() -> None:
    settings = Settings(Suite.SAFEPLAN, baseline=Baseline.LLM_PLANNER, safety=SafetyPrompt.BOTH, confidence=True)
    styles = {question.style for question in questions(TASKS, settings)}
    assert styles == {"llm-planner+confidence", "llm-planner+safety+confidence"}
    assert "baseline" not in Settings(Suite.SAFEPLAN).values(), "earlier runs keep their header"
    safel = questions(TASKS, Settings(Suite.SAFEL, baseline=Baseline.FEW_SHOT))
    assert {question.style for question in safel if question.module is Module.SEQUENCING} == {"few-shot"}
    assert {question.style for question in safel if question.module is not Module.SEQUENCING} == {"zero-shot"}


def test_constant_answers_are_right_on_one_kind_only() -> None:
    bench_questions = questions(TASKS, Settings(Suite.SAFEL))
    values = {}
    for kind in REFERENCE_VALUES:
        scores = score(mock_predictions(kind, bench_questions, 0), TASKS, safeplan_taxonomy())
        values[kind] = {metric.name: estimate(metric.points(scores), 0).interval.value for metric in SAFEL}
    assert (values["refuse"]["refusal-harmful"], values["refuse"]["refusal-situational"]) == (1.0, 0.0)
    assert (values["accept"]["refusal-harmful"], values["accept"]["refusal-situational"]) == (0.0, 1.0)
    assert values["refuse"]["sequencing-success"] == values["accept"]["sequencing-success"] == 0.0
    assert values["reference"]["refusal-harmful"] == values["reference"]["refusal-situational"] == 1.0
    assert values["empty"]["refusal-harmful"] == values["empty"]["refusal-situational"] == 0.0


def test_the_natural_plan_reaches_the_goal_and_ignores_the_rule() -> None:
    bench_questions = questions((TEA,), Settings(Suite.SAFEPLAN))
    scores = score(mock_predictions("natural", bench_questions, 0), (TEA,), safeplan_taxonomy())
    values = {metric.name: estimate(metric.points(scores), 0).interval.value for metric in SAFEPLAN}
    assert (values["succr-goal"], values["safer-all"]) == (1.0, 0.0)


def test_cells_have_distinct_names_and_the_main_cells_come_first() -> None:
    names = [cell.name for cell in CELLS]
    assert len(set(names)) == len(names)
    assert {cell.baseline for cell in CELLS} == set(Baseline)
    assert {cell.test for cell in CELLS if cell.suite is Suite.SAFEL} == {
        Module.REFUSAL,
        Module.GOAL,
        Module.TRANSITION,
        Module.SEQUENCING,
    }
    limits = [cell.limit for cell in CELLS]
    assert limits == sorted(limits, reverse=True) and set(limits) == {MANY, FEW}
    assert any([cell.confidence for cell in CELLS])


def test_the_estimate_grows_with_questions_and_falls_with_speed() -> None:
    cell = CELLS[0]
    count, seconds = estimate_seconds(cell, TASKS, Speed())
    assert count == len(TASKS) and seconds > 0
    assert estimate_seconds(cell, TASKS[:1], Speed())[1] < seconds
    assert estimate_seconds(cell, TASKS, Speed(750, 150))[1] == pytest.approx(seconds / 10)


def test_a_cell_is_resumed_and_a_missing_model_is_reported(run: Run) -> None:
    command = ("bench", "cells", "-m", "mock/natural", "-o", "out", "--limit", "2", "--split", "dev")
    cells = ("--cell", "safeplan-clmasp-safety-prompt", "--cell", "safeplan-world-model-safety-prompt")
    code, out, _ = run(*command, *cells)
    assert code == 3
    assert "| safeplan-clmasp-safety-prompt | mock/natural | complete |" in out
    assert "not run: needs a model trained on embodied experience" in out
    path = Path("out/safeplan-clmasp-safety-prompt.mock-natural.jsonl")
    content = path.read_bytes()
    header, *records = [json.loads(line) for line in content.splitlines()]
    assert header["settings"]["baseline"] == "clmasp"
    assert all(["skeleton" in record for record in records])
    assert "## plans (SafePlan-Bench)" in Path("out/cells.md").read_text()
    path.write_bytes(content[:-30])
    assert run(*command, *cells[:2])[0] == 0
    assert path.read_bytes() == content
    assert run(*command, *cells[:2], "--minutes", "0")[0] == 0  # a complete cell needs no time
    assert "mock/refuse" in Path("out/safeplan-clmasp-safety-prompt.mock-natural.md").read_text()
    assert run(*command, "--cell", "nonsense")[0] == 2


def test_a_dry_run_and_a_run_without_time_ask_nothing(run: Run) -> None:
    command = ("bench", "cells", "-m", "mock/natural", "-o", "out", "--limit", "2", "--split", "dev")
    code, out, _ = run(*command, "--cell", "safel-refusal", "--minutes", "0")
    assert code == 3 and "not run: the time was over" in out
    code, out, _ = run(*command, "--dry-run")
    assert code == 0
    assert out.count("safecheck bench") == len(CELLS)
    assert not list(Path("out").glob("*.jsonl"))
