"""The tasks of a reproduction, and the prompts of baselines."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plansafe.align.evaluating.tasks import EvalTask
from plansafe.align.records import check
from plansafe.align.reproducing.sizes import Prompting, read_size
from plansafe.align.reproducing.task_sets import compiled_task, listed_tasks, sft_line, with_prompting, with_prompts
from plansafe.grammar.source import Source
from plansafe.llm.prompts.planning import SAFETY
from plansafe.verifier.reporting.report import Headline


def test_parts_have_different_tasks_and_held_out_families_are_only_tested() -> None:
    data = read_size("tiny").data
    sft, sampled, test = listed_tasks(data)
    origins = [task.origin for part in (sft, sampled, test) for task in part]
    assert len(set(origins)) == len(origins)
    assert (len(sft), len(sampled)) == (data.train * len(data.families), data.sampled * len(data.families))
    assert {task.family for task in test if task.shift == "family"} == set(data.unseen)
    assert [task.family for task in sft[: len(data.families)]] == list(data.families)
    assert listed_tasks(replace(data, sampled=0)).sampled == sft


def test_training_tasks_have_prompts_and_safe_references() -> None:
    data = replace(read_size("tiny").data, train=1, sampled=1)
    for task in with_prompts(listed_tasks(data).sft):
        check(sft_line(task))
        assert task.prompt.endswith("Plan:\n") and "Never:" in task.prompt
        assert compiled_task(task.origin).checker.check(Source("plan", task.reference)).headline is Headline.SAFE


def test_households_are_tasks_of_a_reproduction() -> None:
    data = replace(read_size("tiny").data, source="drawn", families=("mop",), unseen=("wipe",), train=2, test_rules=0)
    sft, _, test = listed_tasks(data)
    assert {task.world for task in sft} == {"household"} and sft[0].origin == "drawn:mop/0/1/3"
    assert {(task.family, task.shift) for task in test} == {("mop", "in"), ("wipe", "family")}


def test_task_that_cannot_be_drawn_is_skipped() -> None:
    unknown = EvalTask("x", "stated:no-such-family/0/0", "x", "stated")
    assert list(with_prompts([unknown])) == []


def test_baselines_change_only_the_prompt() -> None:
    data = replace(read_size("tiny").data, families=("start", "stop"), train=3, sampled=0, test=2, test_rules=0)
    sft, _, test = [list(with_prompts(part)) for part in listed_tasks(data)]
    for example in ("none", "random", "nearest"):
        for safety in (False, True):
            tasks = with_prompting(test, sft, Prompting("p", example, safety), 0)
            for task, original in zip(tasks, test, strict=True):
                assert task._replace(prompt="") == original._replace(prompt="")
                assert task.prompt.endswith(original.prompt) and task.prompt.startswith(SAFETY) == safety
                examples = [line for line in sft if f"{line.prompt}{line.reference}" in task.prompt]
                assert len(examples) == (example != "none") and task.family not in {line.family for line in examples}
            assert tasks == with_prompting(test, sft, Prompting("p", example, safety), 0)


@pytest.mark.slow
def test_a_scenario_set_is_divided_by_its_splits() -> None:
    data = read_size("paper-mistral-7b").data
    sft, sampled, test = listed_tasks(replace(data, virtualhome=0))
    assert sft == sampled and len(sft) >= 150 and len(test) >= 150
    assert not {task.family for task in sft} & {task.family for task in test}
    (task,) = with_prompts(sft[:1])
    assert compiled_task(task.origin).checker.check(Source("plan", task.reference)).headline is Headline.SAFE
