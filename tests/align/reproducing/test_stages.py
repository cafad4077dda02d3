"""Stages of a reproduction: what is done is not done again, what is cut goes on, another size is refused."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from plansafe.align.records import read_pairs, read_sft
from plansafe.align.reproducing import __main__ as command
from plansafe.align.reproducing.sizes import Size, read_size
from plansafe.align.reproducing.stages import PAIRS, SFT, SHARDS, Place, Unit, configuration, stages, work
from plansafe.align.training.folder import BadTraining


@pytest.fixture(scope="module")
def size() -> Size:
    whole = read_size("tiny")
    return replace(whole, data=replace(whole.data, families=("mop", "wipe"), train=3, test=1, test_unseen=1))


@pytest.fixture(scope="module")
def drawn(size: Size, tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(str(tmp_path_factory.mktemp("reproduction")), size)
    assert not work(place, Unit("draw", 0), time.monotonic())
    assert not Path(place.at("drawn-0.jsonl")).exists()
    for number in range(SHARDS):
        assert work(place, Unit("draw", number))
    assert work(place, Unit("data"))
    return place


@pytest.mark.slow
def test_a_shard_that_is_cut_goes_on_to_the_same_records(drawn: Place, tmp_path: Path) -> None:
    whole = Path(drawn.at("drawn-0.jsonl")).read_bytes()
    again = Place(str(tmp_path), drawn.size)
    (tmp_path / "drawn-0.jsonl").write_bytes(whole[: len(whole) - 100])
    assert work(again, Unit("draw", 0))
    assert (tmp_path / "drawn-0.jsonl").read_bytes() == whole


def test_what_is_done_is_not_done_again(drawn: Place) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in Path(drawn.folder).iterdir()}
    for stage in stages(drawn.size)[:2]:
        for unit in stage:
            assert work(drawn, unit)
    assert {path.name: path.stat().st_mtime_ns for path in Path(drawn.folder).iterdir()} == before


def test_texts_and_pairs_are_of_training_tasks_alone(drawn: Place) -> None:
    tests = {item.origin for item, _ in drawn.drawn() if item.test}
    assert len(tests) == 3
    texts, pairs = list(read_sft(drawn.at(SFT))), list(read_pairs(drawn.at(PAIRS)))
    assert len(texts) >= 6
    assert pairs
    assert not tests & {one.origin for one in (*texts, *pairs)}


def test_another_size_in_the_same_folder_is_refused(drawn: Place) -> None:
    with pytest.raises(BadTraining, match="another size"):
        Place(drawn.folder, replace(drawn.size, most_tokens=99))


def test_preference_runs_begin_with_the_model_of_sft(drawn: Place) -> None:
    whole = configuration(drawn, 1, "ours")
    assert whole.model == f"hf/{drawn.folder}/seed-1/sft/model"
    assert whole.seed == 1
    small = read_size("small", "gguf/x.gguf")
    place = Place.__new__(Place)
    place.folder, place.size = "there", small
    by_lora = configuration(place, 0, "safe-align-0.5")
    assert (by_lora.model, by_lora.adapter) == ("gguf/x.gguf", "there/seed-0/sft/adapter")
    assert (by_lora.method, by_lora.factor) == ("safe-align", 0.5)


def test_every_run_is_trained_and_evaluated_for_each_seed() -> None:
    units = [unit for stage in stages(read_size("tiny")) for unit in stage]
    assert len(units) == len(set(units))
    assert sum(unit.kind == "eval" for unit in units) == sum(unit.kind == "train" for unit in units) == 3 * 3
    assert Unit("eval", 0, "base") in [unit for stage in stages(read_size("small")) for unit in stage]


def test_the_command_says_what_is_wrong(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert command.main(["tyny", "-o", str(tmp_path / "out")]) == 2
    assert "unknown size" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert command.main(["tiny", "-o", str(tmp_path / "file")]) == 2
    assert "error:" in capsys.readouterr().err
