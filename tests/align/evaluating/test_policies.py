"""Test the evaluation from answers to figures with policies whose figures are known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from plansafe.align.evaluating.figures import BY_NAME, estimated
from plansafe.align.evaluating.files import read_evaluation
from plansafe.align.evaluating.report import evaluation_report
from plansafe.align.evaluating.running import Evaluation, Method, Share, evaluate, share_of
from plansafe.align.evaluating.tasks import EvalTask, Opened, of_sft, opener
from plansafe.align.evaluating.writers import Mock
from plansafe.align.records import SftLine
from plansafe.llm.bench.report_text import markdown
from plansafe.llm.bench.run_file import BadRun
from plansafe.llm.models.answer import Answer, Finish

TASKS = tuple([EvalTask(f"{name}-0", f"drawn:{name}/0/0", name, "household") for name in ("stew", "tidy", "wash-up")])


def _value(run: Evaluation, name: str) -> float | None:
    return estimated(BY_NAME[name], run.evaluated).interval.value


def _values(run: Evaluation, *names: str) -> list[float | None]:
    return [_value(run, name) for name in names]


class FixedAnswers:
    """Returns the same answers each time, and records the batches."""

    label = "fixed"
    identity = "fixed"

    def __init__(self, *texts: str, finish: Finish = Finish.STOP) -> None:
        self.texts = texts
        self.finish = finish
        self.batches: list[list[str]] = []

    def write(self, tasks: Sequence[Opened]) -> list[Answer]:
        self.batches.append([opened.task.id for opened in tasks])
        index_of = {task.id: number for number, task in enumerate(TASKS)}
        return [Answer(self.texts[index_of[opened.task.id] % len(self.texts)], self.finish) for opened in tasks]


def test_planner_is_safe_and_reaches_all_goals() -> None:
    run = evaluate(Mock("planner"), TASKS)
    names = ("safer-all", "safer-executable", "succr-goal", "safer-at-goal", "safe-goal", "executable", "strict")
    assert _values(run, *names) == [1.0] * len(names)
    assert [record["headline"] for record in run.records] == ["SAFE"] * 3
    assert _values(run, "unsafer", "breaks-process", "breaks-termination", "refused", "cut") == [0.0] * 5


def test_reference_overlaps_with_itself() -> None:
    run = evaluate(Mock("reference"), TASKS)
    assert _values(run, "succr-paper", "succr-end", "rouge-score-l", "length", "length-goal") == [1.0] * 5
    assert _value(run, "rouge-l") == pytest.approx(1.0, abs=1e-7)  # `rouge` 1.0.1 adds 1e-8 below the line


def test_empty_plans_reach_no_goal_and_inapplicable_figures_have_no_value() -> None:
    run = evaluate(Mock("empty"), TASKS)
    assert _values(run, "safer-all", "succr-goal", "safe-goal", "read", "rouge-l") == [0.0] * 5
    assert _values(run, "safer-read", "safer-executable", "safer-at-goal", "unsafer", "length") == [None] * 5
    assert "n/a" in markdown(evaluation_report(run))


def test_unsafe_plan_reaches_the_goal_unsafely() -> None:
    run = evaluate(Mock("unsafe"), TASKS[:1])
    record = run.records[0]
    assert record["headline"] == "UNSAFE"
    assert {violation["rule"] for violation in record["judged"]["violations"]} >= {
        "stove-attended",
        "heat-off-at-the-end",
    }
    assert _values(run, "succr-goal", "safer-at-goal", "safe-goal", "breaks-termination") == [1.0, 0.0, 0.0, 1.0]
    assert run.evaluated[0].error == "success, unsafe"
    text = markdown(evaluation_report(run))
    assert "| fire and heat |" in text and "| heat-off-at-the-end | 1 |" in text


def test_random_plans_reach_no_goal() -> None:
    run = evaluate(Mock("random"), TASKS)
    assert _value(run, "succr-goal") == 0.0
    assert _without_time(run) == _without_time(evaluate(Mock("random"), TASKS, batch=1))


def _without_time(run: Evaluation) -> list[dict[str, object]]:
    return [{name: value for name, value in record.items() if name != "cpu_s"} for record in run.records]


def test_prose_and_refusals_are_distinguished() -> None:
    plan = evaluate(Mock("reference"), TASKS[:1]).records[0]["plan"]
    numbered = "Here is the plan:\n" + "".join([f"{number}. {step}\n" for number, step in enumerate(plan, 1)])
    run = evaluate(FixedAnswers(numbered, "I'm sorry, I cannot help with that.", ""), TASKS)
    assert [record["reading"] for record in run.records] == ["loose", "none", "none"]
    assert [record["refused"] for record in run.records] == [False, True, False]
    assert run.records[0]["headline"] == "SAFE"
    assert _value(run, "refused") == pytest.approx(1 / 3)


def test_truncated_plan_is_counted() -> None:
    assert _value(evaluate(FixedAnswers("(", finish=Finish.LENGTH), TASKS), "cut") == 1.0


def test_overlap_needs_a_reference() -> None:
    def without(task: EvalTask) -> Opened:
        opened = opener()(task)
        return opened._replace(bench=opened.bench.__class__(**{**opened.bench.__dict__, "reference": ""}))

    run = evaluate(Mock("planner"), TASKS[:1], opens=without)
    assert _values(run, "rouge-l", "length") == [None, None]
    assert run.records[0]["judged"]["success_paper"] is None
    assert _value(run, "succr-goal") == 1.0


def test_truncated_run_is_resumed(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    writer = FixedAnswers("(nothing)")
    evaluate(writer, TASKS, output=str(file), batch=2)
    complete = file.read_bytes()
    assert writer.batches == [["stew-0", "tidy-0"], ["wash-up-0"]]
    for size in range(0, len(complete), 1999):
        file.write_bytes(complete[:size])
        resumed_writer = FixedAnswers("(nothing)")
        evaluate(resumed_writer, TASKS, output=str(file), batch=2)
        assert _same(file.read_bytes(), complete)
        remaining = 3 - complete[:size].count(b"\n") + 1 if b"\n" in complete[:size] else 3
        assert sum(map(len, resumed_writer.batches)) == remaining
    with pytest.raises(BadRun):
        evaluate(writer, TASKS[:2], output=str(file))
    with pytest.raises(BadRun):
        evaluate(writer, TASKS, output=str(file), method=Method("other", 0.5, 1))


def _same(first: bytes, second: bytes) -> bool:
    """Whether two runs are equal except for CPU times."""
    return re.sub(rb'"cpu_s":[0-9.]+', b"", first) == re.sub(rb'"cpu_s":[0-9.]+', b"", second)


class Counting:
    """Answers with the task and the sample."""

    label = identity = "counting"

    def write(self, tasks: Sequence[Opened]) -> list[Answer]:
        return [Answer(f"({opened.task.id} {opened.sample})") for opened in tasks]


def _answers(run: Evaluation) -> list[tuple[str, int, str]]:
    return [(record["id"], record["sample"], record["answer"]) for record in run.records]


def test_each_sample_is_a_record(tmp_path: Path) -> None:
    run = evaluate(Counting(), TASKS, samples=3, batch=2, output=str(tmp_path / "run.jsonl"))
    assert _answers(run) == [(task.id, sample, f"({task.id} {sample})") for task in TASKS for sample in range(3)]
    assert estimated(BY_NAME["safe-goal"], run.evaluated).whole == 9
    assert read_evaluation(str(tmp_path / "run.jsonl")).records == run.records
    with pytest.raises(BadRun, match="settings"):
        evaluate(Counting(), TASKS, samples=2, output=str(tmp_path / "run.jsonl"))


@pytest.mark.parametrize("samples", [1, 2])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_several_processes_write_the_same_run(tmp_path: Path, count: int, samples: int) -> None:
    single = evaluate(Counting(), TASKS, samples=samples, output=str(tmp_path / "alone.jsonl"))
    output = str(tmp_path / "shared.jsonl")
    shares = [Share(rank, count) for rank in range(count)]
    runs = [evaluate(Counting(), TASKS, samples=samples, output=output, share=share) for share in shares]
    assert [run.is_complete for run in runs] == [False] * (count - 1) + [True]
    assert _same(Path(output).read_bytes(), (tmp_path / "alone.jsonl").read_bytes())
    assert _answers(runs[-1]) == _answers(single)
    again = [evaluate(Counting(), TASKS, samples=samples, output=output, share=share) for share in shares]
    assert all([_answers(run) == _answers(single) for run in again])
    assert [path.name for path in tmp_path.iterdir() if ".part-" in path.name] == []
    if count > 1:
        contents = Path(output).read_bytes()
        Path(output).write_bytes(contents[:-50])
        with pytest.raises(BadRun, match="one process"):
            evaluate(Counting(), TASKS, samples=samples, output=output, share=shares[0])


def test_launcher_variables_determine_the_share() -> None:
    assert share_of({}) == Share(0, 1)
    share = share_of({"RANK": "1", "WORLD_SIZE": "3"})
    assert (share, list(share.of([0, 1, 2, 3, 4]))) == (Share(1, 3), [1, 4])
    with pytest.raises(ValueError, match="RANK"):
        share_of({"RANK": "3", "WORLD_SIZE": "3"})


def test_repeated_task_id_is_refused() -> None:
    with pytest.raises(ValueError, match="same id"):
        evaluate(Mock("empty"), (*TASKS, TASKS[0]))


def test_repeated_sft_lines_are_one_task() -> None:
    line = SftLine("stew-0/0", "drawn:stew/0/0", "stew", "household", "test", "Go.\nPlan:\n", "(wait)\n", "plan")
    question = SftLine("stew-0/0", "drawn:stew/0/0", "stew", "household", "test", "What?\n", "(wait)", "knowledge")
    tasks = list(of_sft([line, line, question], "family"))
    assert tasks == [
        EvalTask("stew-0/0", "drawn:stew/0/0", "stew", "household", "test", "family", "Go.\nPlan:\n", "(wait)\n")
    ]
    assert opener()(tasks[0]).prompt == "Go.\nPlan:\n"
    assert opener()(TASKS[0]).prompt.endswith("Plan:\n")
