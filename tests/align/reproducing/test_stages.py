"""Stages of a reproduction: rounds, resumption, verifier calls, the model and data of each unit."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pytest

from plansafe.align.evaluating.files import read_evaluation
from plansafe.align.records import read_pairs, read_sft
from plansafe.align.reproducing import __main__ as command
from plansafe.align.reproducing import running
from plansafe.align.reproducing.running import complete_seeds, report
from plansafe.align.reproducing.sizes import Run, Size, read_size
from plansafe.align.reproducing.stages import (
    SAMPLED,
    SFT,
    TEST,
    Place,
    Unit,
    configuration,
    evaluated_runs,
    stages,
    work,
)
from plansafe.align.training.folder import BadTraining
from plansafe.llm.bench.report_text import markdown


@pytest.fixture(scope="module")
def size() -> Size:
    """The size tiny with two rounds, few tasks and few steps."""
    tiny = read_size("tiny")
    families = tiny.data.families[:2]
    data = replace(tiny.data, families=families, train=3, sampled=2, test=2, test_families=1, test_rules=1)
    return replace(
        tiny,
        data=data,
        seeds=(0,),
        max_tokens=40,
        sampling=replace(tiny.sampling, samples=2, rounds=2, mutants=1),
        sft={**tiny.sft, "max_steps": 3, "bs": 4},
        preference={**tiny.preference, "max_steps": 1, "bs": 2},
        runs=(
            Run("ours", {"method": "ours"}, "pairs"),
            Run("safe-align-0.5", {"method": "safe-align", "lambda": 0.5}, "pairs"),
        ),
        treatment="ours",
    )


@pytest.fixture(scope="module")
def place(size: Size, tmp_path_factory: pytest.TempPathFactory) -> Place:
    pytest.importorskip("torch")
    pytest.importorskip("peft")
    place = Place(str(tmp_path_factory.mktemp("reproduction")), size)
    assert not work(place, Unit("tasks"), time.monotonic())
    assert not Path(place.at(SFT)).exists()
    for stage in stages(size):
        for unit in stage:
            assert work(place, unit), unit
    return place


def test_training_and_test_tasks_are_disjoint(place: Place) -> None:
    train, sampled, test = [place.tasks(part) for part in (SFT, SAMPLED, TEST)]
    assert len(train) == 2 * 3 and len(sampled) == 2 * 2
    assert not {task.origin for task in [*train, *sampled]} & {task.origin for task in test}
    assert not {task.origin for task in train} & {task.origin for task in sampled}
    assert Counter([task.shift for task in test])["in"] == 2 * 2
    assert not {task.family for task in test if task.shift == "family"} & {task.family for task in train}
    assert {line.origin for line in read_sft(place.at(SFT))} == {task.origin for task in train}


def test_finished_units_are_not_repeated(place: Place) -> None:
    def states() -> dict[str, object]:
        files = [path for path in Path(place.folder).rglob("*") if path.is_file() and not path.name.endswith("lock")]
        metrics = {str(path): path.read_bytes() for path in files if path.name == "metrics.jsonl"}
        return {str(path): path.stat().st_mtime_ns for path in files if path.name != "metrics.jsonl"} | metrics

    before = states()
    for stage in stages(place.size):
        for unit in stage:
            assert work(place, unit)
    assert states() == before


def test_each_round_samples_from_the_model_of_the_round_before(place: Place) -> None:
    seed = Path(place.folder) / "seed-0"
    first = read_evaluation(str(seed / "samples-sft.jsonl"))
    second = read_evaluation(str(seed / "samples-ours-round-2.jsonl"))
    assert len(first.records) == len(second.records) == 4 * 2
    assert [record["sample"] for record in first.records] == [0, 1] * 4
    assert first.header["identity"] != second.header["identity"]
    assert first.header["model"] == "sft" and second.header["model"] == "ours"
    for name in ("pairs-sft.jsonl", "pairs-ours-round-2.jsonl"):
        tasks = {task.origin for task in place.tasks(SAMPLED)}
        assert {pair.origin for pair in read_pairs(str(seed / name))} <= tasks


def test_truncated_file_of_pairs_is_completed_to_the_same_pairs(place: Place, tmp_path: Path) -> None:
    unit = Unit("pairs", 0, "sft", 1)
    path = Path(place.pairs(0, "sft", 1))
    contents, tasks = path.read_bytes(), Path(f"{path}.tasks")
    path.unlink()
    tasks.write_bytes(tasks.read_bytes()[:-30])
    assert work(place, unit)
    assert path.read_bytes() == contents


def test_the_report_tests_the_treatment_by_population(place: Place) -> None:
    assert complete_seeds(place) == [0]
    text = markdown(report(place))
    assert "Known families and rules" in text and "Held-out families" in text
    assert "ours against the other methods" in text and "| safe-align, lambda 0.5 |" in text
    assert "| ours | 16 |" in text  # four tasks, two samples, two rounds
    assert "ahead" in text or "no difference shown" in text


def test_another_size_in_the_same_folder_is_refused(place: Place) -> None:
    with pytest.raises(BadTraining, match="another size"):
        Place(place.folder, replace(place.size, max_tokens=99))
    assert Place(place.folder, replace(place.size, seeds=(0, 1))).folder == place.folder  # seeds may be added


def test_runs_start_from_the_model_of_sft_or_of_their_last_round(size: Size) -> None:
    place = Place.__new__(Place)
    place.folder, place.size = "there", size
    assert configuration(place, 1, "ours", 1).model == "hf/there/seed-1/sft/model"
    last = configuration(place, 1, "ours")
    assert (last.model, last.output) == ("hf/there/seed-1/ours-round-1/model", "there/seed-1/ours")
    assert last.data == ("there/seed-1/pairs-ours-round-2.jsonl",)
    small = replace(size, base="gguf/x.gguf", sft={**size.sft, "lora_r": 8}, preference={"lora_r": 8, "max_steps": 1})
    place.size = small
    by_lora = configuration(place, 0, "safe-align-0.5", 1)
    assert (by_lora.model, by_lora.adapter) == ("gguf/x.gguf", "there/seed-0/sft/adapter")
    assert (by_lora.method, by_lora.factor) == ("safe-align", 0.5)


def test_each_process_sees_one_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    for visible, gpus, expected in (
        ("", ["0", "1"], ["0", "1", "0"]),
        ("4,6", ["0", "1"], ["4", "6", "4"]),
        ("", [], ["", "", ""]),
    ):
        counter = get_context("spawn").Value("i", 0)
        monkeypatch.setattr(running, "gpus", lambda gpus=gpus: gpus)
        used = []
        for _ in range(3):
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
            running.take_gpu(counter)
            used.append(os.environ["CUDA_VISIBLE_DEVICES"])
        assert used == expected


def test_seeds_are_processed_in_order(size: Size) -> None:
    units = [unit for stage in stages(replace(size, seeds=(3, 5))) for unit in stage]
    assert len(units) == len(set(units))
    seeds = [unit.seed for unit in units if unit.kind != "tasks"]
    assert seeds == sorted(seeds)
    assert sum([unit.kind == "eval" for unit in units]) == 2 * len(evaluated_runs(size))
    pairs = [[unit.seed for unit in stage] for stage in stages(replace(size, seeds=(3, 5, 7)), 2)][1:]
    assert {tuple(dict.fromkeys(stage)) for stage in pairs} == {(3, 5), (7,)}
    assert pairs[0] == [3, 5] and pairs[-1] == [7] * len(evaluated_runs(size))
    together = {unit for stage in stages(replace(size, seeds=(3, 5)), 2) for unit in stage}
    assert together == set(units)


def test_the_command_reports_mistakes_and_estimates(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert command.main(["tyny", "-o", str(tmp_path / "out")]) == 2
    assert "unknown size" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert command.main(["tiny", "-o", str(tmp_path / "file")]) == 2
    assert "error:" in capsys.readouterr().err
    assert command.main(["tiny", "-o", str(tmp_path / "out"), "--dry-run"]) == 0
    text = capsys.readouterr().out
    assert "train sft" in text and "hours of one cpu" in text and not (tmp_path / "out").exists()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "times.jsonl").write_text(
        json.dumps({"unit": ["train", 0, "sft", 0], "seconds": 3600.0}) + "\n"
    )
    assert command.main(["tiny", "-o", str(tmp_path / "out"), "--dry-run"]) == 0
    assert "measured" in capsys.readouterr().out
