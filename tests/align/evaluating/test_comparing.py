"""Test comparisons of runs: pooled seeds, tables, paired differences, plots, refused files."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ElementTree
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from in_process import safecheck
from plansafe.align.evaluating.comparing import compare, grouped, over_lambda
from plansafe.align.evaluating.files import read_evaluation, read_tasks
from plansafe.align.evaluating.report import NoPlots, bars, compared, curves, plots
from plansafe.align.evaluating.running import Evaluation, Method, evaluate
from plansafe.align.evaluating.tasks import EvalTask
from plansafe.align.evaluating.writers import Mock
from plansafe.align.records import BadRecords, SftLine, json_of
from plansafe.llm.bench.report_text import markdown
from plansafe.llm.bench.run_file import BadRun
from plansafe.llm.metrics.bootstrap import Interval

TASKS = (
    EvalTask("stew-0", "drawn:stew/0/0", "stew", "household"),
    EvalTask("stew-1", "drawn:stew/1/0", "stew", "household"),
    EvalTask("tidy-0", "drawn:tidy/0/0", "tidy", "household", shift="family"),
    EvalTask("wash-up-0", "drawn:wash-up/0/0", "wash-up", "household", shift="family"),
)


@pytest.fixture(scope="module")
def runs() -> dict[str, Evaluation]:
    return {kind: evaluate(Mock(kind), TASKS) for kind in ("planner", "unsafe", "empty")}


def _as_method(run: Evaluation, name: str, factor: float | None = None, seed: int | None = None) -> Evaluation:
    return run._replace(header={**run.header, "method": Method(name, factor, seed)._asdict()})


@pytest.mark.slow
def test_seeds_of_a_method_are_pooled_and_each_counts_once(runs: dict[str, Evaluation]) -> None:
    groups = grouped(
        [
            _as_method(runs["unsafe"], "a", 0.5, 1),
            _as_method(runs["planner"], "b"),
            _as_method(runs["planner"], "a", 0.5, 0),
        ]
    )
    assert [(group.name, len(group.answers)) for group in groups] == [("a, lambda 0.5", 8), ("b", 4)]
    assert [answer.judged.sample for answer in groups[0].answers] == [0] * 4 + [1] * 4
    with pytest.raises(ValueError, match="same seed"):
        grouped([_as_method(runs["planner"], "a", 0.5, 0), _as_method(runs["unsafe"], "a", 0.5, 0)])


def test_only_common_tasks_are_compared(runs: dict[str, Evaluation]) -> None:
    half = runs["planner"]._replace(records=runs["planner"].records[2:])
    test = compare(*grouped([_as_method(runs["unsafe"], "unsafe"), _as_method(half, "half")]))
    assert test is not None and (test.first, test.second, test.families) == (1.0, 1.0, 2)


def test_report_has_the_tables_and_figures_of_the_paper(runs: dict[str, Evaluation]) -> None:
    method_runs = [
        _as_method(runs["unsafe"], "sft"),
        _as_method(runs["unsafe"], "safe-align", 0.0),
        _as_method(runs["planner"], "safe-align", 0.5),
        _as_method(runs["empty"], "safe-align", 1.0),
    ]
    text = markdown(compared(method_runs))
    for title in (
        "## Known families and rules",
        "## Held-out families",
        "sft against the other methods",
        "By family: safe and goal reached",
        "Tables 1 and 2: drawn households",
        "Figure 6: violations by moment",
        "Figure 6: violations by category of hazard",
        "Figure 7: safe-align over lambda",
        "Error classes of SAFEL",
        "Violated rules",
    ):
        assert title in text, title
    in_training, held_out = text.split("\n## Held-out families\n")
    assert "| safe-align, lambda 0.5 | 100.0 % | -100.0 | -100.0 to -100.0 | 0 of 1 | 1.0000 |" in in_training
    assert "| safe-align, lambda 0.5 | 100.0 % | +0.0 |" in held_out
    assert "| sft | 2 | 0.0 %" in in_training and "| sft | 2 | 100.0 %" in held_out and "| sft | 4 | 50.0 %" in held_out
    assert "| 1 | 0.0 %" in text and "| n/a |" in text  # lambda 1 finishes nothing: SafeR@S of it is n/a
    assert list(over_lambda(grouped(method_runs))) == ["safe-align"]
    with pytest.raises(ValueError, match="no run is of the method unknown"):
        compared(method_runs, "unknown")
    with pytest.raises(ValueError, match="no runs"):
        compared([])


def test_figures_of_the_paper_are_plotted(runs: dict[str, Evaluation]) -> None:
    pytest.importorskip("matplotlib")
    method_runs = [
        _as_method(runs["unsafe"], "sft"),
        _as_method(runs["planner"], "safe-align", 0.5),
        _as_method(runs["empty"], "safe-align", 1.0),
    ]
    svgs = plots(grouped(method_runs))
    assert sorted(svgs) == ["figure-6-categories", "figure-6-moments", "figure-7"]
    for svg in svgs.values():
        assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert plots(grouped(method_runs)) == svgs


def test_plots_escape_text_and_omit_missing_values() -> None:
    pytest.importorskip("matplotlib")
    nothing = Interval(None, None, None, 0)
    rows = {"<script>": [Interval(0.5, 0.25, 1.0, 2), nothing], "b": [nothing, Interval(0.2, None, None, 1)]}
    for svg in (bars("<b>&", ["one", "$two"], rows), curves("<b>&", [0.0, 1.0], rows)):
        ElementTree.fromstring(svg)
        assert "<script>" not in svg
    assert bars("t", ["one"], {"a": [Interval(1.0, None, None, 1)]}) != bars(
        "t", ["one"], {"a": [Interval(0.5, 0.1, 0.9, 2)]}
    )


def test_plots_need_matplotlib(runs: dict[str, Evaluation], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(NoPlots):
        plots(grouped([_as_method(runs["planner"], "a")]))
    evaluate(Mock("planner"), TASKS[:1], output=str(tmp_path / "run.jsonl"))
    code, text = _run_align("tables", tmp_path / "run.jsonl", "-o", tmp_path / "all.md")
    assert code == 0 and "matplotlib" in text
    assert (tmp_path / "all.md").exists() and not list(tmp_path.glob("*.svg"))


# -- files and commands -----------------------------------------------------------------------------------------------


def _run_align(*arguments: object) -> tuple[int, str]:
    process = safecheck("align", *[str(argument) for argument in arguments], cwd=".")
    return process.returncode, process.stdout + process.stderr


def _tasks_file(path: Path) -> Path:
    lines = [
        {"id": task.id, "origin": task.origin, "family": task.family, "world": task.world, "shift": task.shift}
        for task in TASKS
    ]
    path.write_text("".join([json.dumps(line) + "\n" for line in lines]), encoding="utf-8")
    return path


@pytest.mark.slow
def test_commands_from_tasks_to_tables(tmp_path: Path) -> None:
    tasks = _tasks_file(tmp_path / "tasks.jsonl")
    assert read_tasks(str(tasks)) == TASKS
    for kind in ("planner", "empty"):
        code, text = _run_align("eval", tasks, "-m", f"mock/{kind}", "-o", tmp_path / f"{kind}.jsonl")
        assert code == 0, text
        assert (tmp_path / f"{kind}.md").exists() and (tmp_path / f"{kind}.html").exists()
    before = (tmp_path / "planner.jsonl").read_bytes()
    assert _run_align("eval", tasks, "-m", "mock/planner", "-o", tmp_path / "planner.jsonl")[0] == 0
    assert (tmp_path / "planner.jsonl").read_bytes() == before
    code, text = _run_align(
        "tables", tmp_path / "empty.jsonl", tmp_path / "planner.jsonl", "-o", tmp_path / "all.md", "--by", "family"
    )
    assert code == 0, text
    assert "mock/planner" in text
    assert "mock/empty against the other methods" in (tmp_path / "all.md").read_text(encoding="utf-8")
    if find_spec("matplotlib") is not None:
        assert (tmp_path / "all-figure-6-moments.svg").exists()
    code, text = _run_align("tables", tmp_path / "empty.jsonl", "--against", "unknown")
    assert code == 2 and "no run is of the method unknown" in text


def test_lines_for_sft_are_tasks(tmp_path: Path) -> None:
    line = SftLine("stew-0/0", "drawn:stew/0/0", "stew", "household", "test", "Go.\nPlan:\n", "(wait)\n", "plan")
    path = tmp_path / "sft.jsonl"
    path.write_text(json_of(line) + "\n" + json_of(line) + "\n", encoding="utf-8")
    (task,) = read_tasks(str(path), "world")
    assert (task.id, task.shift, task.prompt, task.reference) == ("stew-0/0", "world", "Go.\nPlan:\n", "(wait)\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"origin":"drawn:stew/0/0","family":"stew"}', "`world` is missing"),
        ('{"origin":"drawn:stew/0/0","family":"stew","world":"household","shfit":"in"}', "`shfit` is not a field"),
        ('{"origin":"drawn:stew/0/0","family":"stew","world":"household","shift":"far"}', "`shift` is not one of"),
        ("[]", "not a JSON object"),
        ("", "is empty"),
    ],
)
def test_invalid_task_file_is_refused(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text(f"{line}\n" if line else "", encoding="utf-8")
    with pytest.raises(BadRecords):
        read_tasks(str(path))
    code, text = _run_align("eval", path, "-m", "mock/empty", "-o", tmp_path / "run.jsonl")
    assert code == 2 and (message in text or "not JSON" in text)
    assert not (tmp_path / "run.jsonl").exists()


def test_unknown_origin_and_remote_model_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text('{"origin":"drawn:nothing/0/0","family":"x","world":"household"}\n', encoding="utf-8")
    code, text = _run_align("eval", path, "-m", "mock/empty", "-o", tmp_path / "run.jsonl")
    assert code == 2 and "nothing" in text
    for model in ("openai/x", "mock/oracle", "x"):
        code, text = _run_align("eval", _tasks_file(path), "-m", model, "-o", tmp_path / "run.jsonl")
        assert code == 2 and model.partition("/")[0] in text
    code, text = _run_align("eval", path, "-m", "mock/empty", "-o", tmp_path / "run.jsonl", "--split", "train")
    assert code == 2 and "there are: test" in text


def test_damaged_run_is_refused(tmp_path: Path) -> None:
    run_file = tmp_path / "run.jsonl"
    evaluate(Mock("planner"), TASKS[:1], output=str(run_file))
    assert read_evaluation(str(run_file)).records
    header, record = [json.loads(line) for line in run_file.read_text(encoding="utf-8").splitlines()]
    broken: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({**header, "suite": "planning"}, record),
        ({**header, "method": None}, record),
        ({**header, "method": {"name": "a", "factor": "x", "seed": None}}, record),
        (header, {**record, "judged": {}}),
        (header, {**record, "rouge": "much"}),
        (header, {**record, "plan": [1]}),
        *[
            (header, {key: value for key, value in record.items() if key != missing})
            for missing in record
            if missing != "id"
        ],
    ]
    for first, second in broken:
        path = tmp_path / "broken.jsonl"
        path.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n", encoding="utf-8")
        with pytest.raises(BadRun):
            read_evaluation(str(path))
    assert _run_align("tables", tmp_path / "absent.jsonl")[0] == 2
