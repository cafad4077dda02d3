"""The folder that comes out: its files, its card, its report; what is in the way is refused and left alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
from made_pairs import made_pairs

from plansafe.align.choosing.folder import NotMade
from plansafe.align.choosing.splits import split_of
from plansafe.align.choosing.statistics import Statistics, kind, targets_of
from plansafe.align.choosing.whole import NothingChosen, Wanted, make_folder
from plansafe.align.records import Pair, read_pairs
from plansafe.grammar.codes import SC


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_a_folder_is_a_data_set_with_a_card_and_a_report(tmp_path: Path) -> None:
    place = tmp_path / "pairs"
    report = make_folder(
        str(place), lambda _side: made_pairs(900), Wanted(120, 1, kto=True, described=(("worlds", ["household"]),))
    )
    assert sorted(files(place)) == [
        "README.md",
        "kto/test.jsonl",
        "kto/train.jsonl",
        "report.json",
        *sorted(["test.jsonl", "train.jsonl"]),
    ]
    assert [file.name for file in tmp_path.iterdir()] == ["pairs"]
    sides = {split: list(read_pairs(str(place / f"{split}.jsonl"))) for split in ("train", "test")}
    for split, pairs in sides.items():
        assert {pair.split for pair in pairs} == {split}
        assert {split_of(pair.family) for pair in pairs} == {split}
    every = list(chain(*sides.values()))
    assert len({pair.id for pair in every}) == len(every) == report["statistics"]["pairs"] <= 120
    assert all(pair.weights.chosen != (1.0,) * len(pair.weights.chosen) for pair in every)
    assert report["offered"] == report["kept"] + sum(
        count for reason, count in report["rejected"].items() if "reserve" not in reason and "other side" not in reason
    )
    assert report["kept"] - len(every) == sum(
        count for reason, count in report["rejected"].items() if "reserve" in reason or "other side" in reason
    )
    assert json.loads((place / "report.json").read_text(encoding="utf-8"))["asked"]["worlds"] == ["household"]
    card = (place / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\npretty_name: ")
    assert "path: kto/test.jsonl" in card
    assert f"- {len(every):,} pairs of {report['offered']:,} candidates" in card
    lines = [json.loads(line) for line in (place / "kto" / "train.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {(line["prompt"], line["completion"], line["label"]) for line in lines} == {
        one
        for pair in sides["train"]
        for one in ((pair.prompt, pair.chosen, True), (pair.prompt, pair.rejected, False))
    }
    assert len(lines) == len({(line["prompt"], line["completion"]) for line in lines})


def test_the_same_candidates_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        make_folder(str(tmp_path / name), lambda _side: made_pairs(400), Wanted(60, 3))
    assert files(tmp_path / "one") == files(tmp_path / "other")


def test_no_more_candidates_are_made_than_are_needed(tmp_path: Path) -> None:
    taken = 0

    def counted() -> Iterator[Pair]:
        nonlocal taken
        for pair in made_pairs(100_000):
            taken += 1
            yield pair

    make_folder(str(tmp_path / "full"), lambda _side: counted(), Wanted(60, 1))
    assert taken < 500
    make_folder(str(tmp_path / "stopped"), lambda _side: counted(), Wanted(600, 1), enough=lambda kept: kept >= 100)
    report = json.loads((tmp_path / "stopped" / "report.json").read_text(encoding="utf-8"))
    assert report["kept"] == 100


def test_a_folder_of_ours_is_replaced_and_no_other(tmp_path: Path) -> None:
    place = tmp_path / "pairs"
    place.mkdir()
    make_folder(str(place), lambda _side: made_pairs(500), Wanted(50, 1, kto=True))
    make_folder(str(place), lambda _side: made_pairs(500), Wanted(40, 2))
    assert sorted(files(place)) == ["README.md", "report.json", "test.jsonl", "train.jsonl"]
    (place / "mine.txt").write_text("mine", encoding="utf-8")
    before = files(place)
    with pytest.raises(NotMade, match="contains another file: mine") as caught:
        make_folder(str(place), lambda _side: made_pairs(500), Wanted(50, 1))
    assert caught.value.diagnostic.code == SC.NOT_WRITTEN
    assert files(place) == before
    assert [file.name for file in tmp_path.iterdir()] == ["pairs"]


@pytest.mark.parametrize("report", ["", "{}", '{"kind": 1}', "[" * 100_000], ids=["empty", "other", "number", "deep"])
def test_what_was_not_made_here_is_left_alone(tmp_path: Path, report: str) -> None:
    place = tmp_path / "other"
    place.mkdir()
    (place / "report.json").write_text(report, encoding="utf-8")
    with pytest.raises(NotMade, match="was not created by"):
        make_folder(str(place), lambda _side: made_pairs(500), Wanted(50, 1))
    for taken in (tmp_path / "other" / "report.json", tmp_path / "none" / "pairs"):
        with pytest.raises(NotMade):
            make_folder(str(taken), lambda _side: made_pairs(500), Wanted(50, 1))
    (tmp_path / "link").symlink_to(place)
    with pytest.raises(NotMade, match="it is not a folder"):
        make_folder(str(tmp_path / "link"), lambda _side: made_pairs(500), Wanted(50, 1))


def test_what_goes_wrong_leaves_nothing_behind(tmp_path: Path) -> None:
    def broken(pair: Pair) -> Pair:
        raise RuntimeError(pair.id)

    with pytest.raises(RuntimeError):
        make_folder(str(tmp_path / "pairs"), lambda _side: made_pairs(500), Wanted(50, 1), finish=broken)
    with pytest.raises(NothingChosen, match="there is no pair for"):
        make_folder(str(tmp_path / "pairs"), lambda _side: made_pairs(3), Wanted(50, 1))
    assert list(tmp_path.iterdir()) == []


def test_things_that_are_as_frequent_stand_in_the_same_order_each_time() -> None:
    things = ["pear", "lamp", "apple", "bowl", "cup", "fork", "tea", "egg"]
    pair = next(made_pairs(1))
    counted = Statistics()
    rejected = "".join([f"(take robot {thing})\n" for thing in things])
    counted.add(replace(pair, chosen="(go robot)\n", rejected=rejected))
    assert list(counted.record()["objects"]) == sorted(things)


def test_kinds_and_targets() -> None:
    assert [kind(name) for name in ("mug_41", "mug2", "counter-socket", "42", "table_1.226")] == [
        "mug",
        "mug",
        "counter-socket",
        "42",
        "table",
    ]
    known = targets_of("household")
    assert len(known) > 20
    assert {target for targets in known.values() for target in targets} >= {"human", "property"}
    assert targets_of("nowhere") == {}
