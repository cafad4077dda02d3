"""Sampling of answers: greedy at first, with a temperature on retries, or as the user chooses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from loop_kitchen import Run, record_answers

from plansafe.llm.decoding.stepwise import Mode, decode
from plansafe.llm.instances.drawn import draw
from plansafe.llm.loop.model import RETRY_TEMPERATURE, Decode, PlanOptions, StepAuthor
from plansafe.llm.loop.rounds import plan_with
from plansafe.llm.models.mock import MockModel
from plansafe.llm.models.request import Situation, user_messages
from plansafe.llm.prompts.examples import BENCHMARK
from plansafe.llm.prompts.planning import Example, planning_prompt
from plansafe.verifier.planning.guide import Guide
from shared_kitchen import UNSAFE

OPTIONS = ("--problem", "task/p.pddl", "--no-last-resort", "--transcript", "run.jsonl")


def read_requests(path: str = "run.jsonl") -> list[tuple[float, int | None]]:
    calls = [json.loads(line) for line in Path(path).read_text().splitlines()]
    return [(call["temperature"], call["seed"]) for call in calls]


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ((), [(0.0, None), (RETRY_TEMPERATURE, 1), (RETRY_TEMPERATURE, 2)]),
        (("--seed", "7"), [(0.0, 7), (RETRY_TEMPERATURE, 8), (RETRY_TEMPERATURE, 9)]),
        (("--replan",), [(0.0, None), (RETRY_TEMPERATURE, 1), (RETRY_TEMPERATURE, 2)]),
        (("--temperature", "0.2"), [(0.2, None), (0.2, 1), (0.2, 2)]),
        (("--temperature", "0"), [(0.0, None), (0.0, 1), (0.0, 2)]),
    ],
)
def test_retries_are_sampled(flags: tuple[str, ...], expected: list[tuple[float, int | None]], run: Run) -> None:
    assert run("-m", record_answers(UNSAFE), *OPTIONS, *flags)[0] == 3
    assert read_requests() == expected


def test_a_transcript_of_retries_is_replayed(run: Run) -> None:
    _, first, _ = run("-m", record_answers(UNSAFE), *OPTIONS)
    Path("again.jsonl").write_text(Path("run.jsonl").read_text())
    code, out, _ = run("-m", "replay/again.jsonl", *OPTIONS)
    assert code == 3
    assert out.split("model  ")[0] == first.split("model  ")[0]


def test_a_retried_goal_is_sampled(run: Run) -> None:
    lines = [json.dumps({"task": "tea/goal", "text": "(hott hob)"}) + "\n"]
    Path("answers.jsonl").write_text("".join(lines))
    options = ("--problem", "task/p.pddl", "--goal-from-words", "Heat it.", "--transcript", "run.jsonl")
    assert run("-m", "replay/answers.jsonl", *options)[0] == 2
    assert read_requests() == [(0.0, None), (RETRY_TEMPERATURE, 1)]


@pytest.mark.parametrize(
    "flags", [("--timeout", "0"), ("--timeout", "nan"), ("--temperature", "11"), ("--threads", "0")]
)
def test_invalid_sampling_options_are_refused(flags: tuple[str, ...], run: Run) -> None:
    assert run("-m", "mock/planner", "--problem", "task/p.pddl", *flags)[0] == 2


def name_last_step(where: Situation) -> str:
    """Ignore the list of choices, but name a step: the last of the possible next steps."""
    return f"Sure! I would do {where.legal[-1]} now.\x1b[2J"


def test_an_answer_that_ignores_the_choice_is_not_the_first_choice() -> None:
    instance = draw("tea", 0, seed=21)
    model = MockModel("planner", {"planner": name_last_step})
    decoded = decode(model, instance.name, user_messages("go"), Guide(instance.checker().compiled), Mode.SHIELD, 4)
    free_choices = [choosing for choosing in decoded.choices if not choosing.forced]
    assert free_choices
    for choosing in free_choices:
        assert not choosing.kept
        assert choosing.ignored is not None and choosing.ignored.startswith("Sure! I would do (")
        assert choosing.row[2] == choosing.ignored  # a benchmark does not count it either
    planned = plan_with(
        model, instance.name, user_messages("go"), instance.checker(), PlanOptions(Decode.SHIELD, last_resort=False)
    )
    parts = [part for part in planned.parts if "ignored" in part.note]
    assert parts
    assert {part.by for part in planned.parts} <= {StepAuthor.MAPPED, StepAuthor.GUIDE}
    assert all(part.note.startswith("the model ignored the choice and wrote Sure!") for part in parts)


def test_a_choice_in_other_case_is_accepted() -> None:
    instance = draw("tea", 0, seed=21)
    model = MockModel("planner", {"planner": lambda where: f" {where.legal[0].strip('()').upper()} \n"})
    decoded = decode(model, instance.name, user_messages("go"), Guide(instance.checker().compiled), Mode.SOFT, 4)
    assert decoded.choices
    assert all(choosing.kept for choosing in decoded.choices)


@pytest.mark.slow
def test_the_default_prompt_is_the_prompt_of_the_benchmark(run: Run) -> None:
    instance = draw("tea", 0, seed=21)
    Path("home.pddl").write_text(instance.problem.text)
    options = ("-m", "mock/empty", "--problem", "home.pddl", "--rounds", "1", "--no-last-resort", "--format", "json")
    examples = []
    for family, number in BENCHMARK:
        example_task = draw(family, number)
        examples.append(Example(example_task.words, example_task.checker().compiled, example_task.reference))
    expected = planning_prompt(instance.words, instance.checker().compiled, tuple(examples))
    prompt = json.loads(run(*options, instance.words)[1])["prompt"]
    assert (prompt["style"], prompt["sha256"]) == ("few-shot", expected.sha256)
    assert json.loads(run(*options, "--style", "zero-shot", instance.words)[1])["prompt"]["style"] == "zero-shot"


def test_a_domain_without_examples_has_none_by_default(run: Run) -> None:
    options = ("-m", "mock/empty", "--problem", "task/p.pddl", "--rounds", "1", "--no-last-resort", "--format", "json")
    assert json.loads(run(*options)[1])["prompt"]["style"] == "zero-shot"
    domain = Path("task/d.pddl").read_text()
    problem = Path("task/p.pddl").read_text()
    Path("task/d.pddl").write_text(domain.replace("(domain kitchen)", "(domain household)"))
    Path("task/p.pddl").write_text(problem.replace("(:domain kitchen)", "(:domain household)"))
    assert json.loads(run(*options)[1])["prompt"]["style"] == "zero-shot"
