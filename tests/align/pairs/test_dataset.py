"""Test the folder of a data set: its files, card and report; an existing folder is not changed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
from random_pairs import random_pairs

from plansafe.align.pairs.dataset import DatasetRequest, NothingSelected, NotMade, make_dataset, statistics
from plansafe.align.pairs.selection import Shares
from plansafe.align.pairs.splits import split_of
from plansafe.align.records import Pair, read_pairs
from plansafe.grammar.codes import SC

EVERYTHING = Shares(mutants=1, unbalanced=1)


def request(pairs: int, seed: int = 1) -> DatasetRequest:
    return DatasetRequest(pairs, seed, EVERYTHING, (("worlds", ["household"]),))


def files(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_a_folder_is_a_data_set_with_a_card_and_a_report(tmp_path: Path) -> None:
    place = tmp_path / "pairs"
    skipped = Counter({"an answer without a plan": 3})
    report = make_dataset(str(place), random_pairs(900), request(120), skipped=skipped)
    assert sorted(files(place)) == ["README.md", "report.json", "test.jsonl", "train.jsonl"]
    assert [file.name for file in tmp_path.iterdir()] == ["pairs"]
    sides = {split: list(read_pairs(str(place / f"{split}.jsonl"))) for split in ("train", "test")}
    for split, pairs in sides.items():
        assert {pair.split for pair in pairs} == {split}
        assert {split_of(pair.family) for pair in pairs} == {split}
    pairs_of_both = list(chain(*sides.values()))
    assert len({pair.id for pair in pairs_of_both}) == len(pairs_of_both) == report["statistics"]["pairs"] <= 120
    assert report["offered"] == len(pairs_of_both) + sum(report["left out"].values())
    assert report["skipped"] == {"an answer without a plan": 3}
    assert json.loads((place / "report.json").read_text(encoding="utf-8"))["asked"]["worlds"] == ["household"]
    card = (place / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\npretty_name: ")
    assert "path: test.jsonl" in card and f"{len(pairs_of_both):,} pairs of " in card


def test_the_same_candidates_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        make_dataset(str(tmp_path / name), random_pairs(400), request(60, 3))
    assert files(tmp_path / "one") == files(tmp_path / "other")


def test_only_needed_candidates_are_generated(tmp_path: Path) -> None:
    n_candidates = 0

    def counted() -> Iterator[Pair]:
        nonlocal n_candidates
        for pair in random_pairs(100_000):
            n_candidates += 1
            yield pair

    make_dataset(str(tmp_path / "full"), counted(), request(60))
    assert n_candidates < 500
    make_dataset(str(tmp_path / "stopped"), counted(), request(600), is_out_of_time=lambda accepted: accepted >= 100)
    report = json.loads((tmp_path / "stopped" / "report.json").read_text(encoding="utf-8"))
    assert report["offered"] - sum(report["left out"].values()) == report["statistics"]["pairs"] <= 100


def test_existing_folder_is_not_changed(tmp_path: Path) -> None:
    place = tmp_path / "pairs"
    make_dataset(str(place), random_pairs(500), request(50, 1))
    before = files(place)
    (tmp_path / "link").symlink_to(place)
    for path in (place, place / "report.json", tmp_path / "link", place / "report.json" / "pairs"):
        with pytest.raises(NotMade, match="cannot create") as caught:
            make_dataset(str(path), random_pairs(500), request(50, 2))
        assert caught.value.diagnostic.code == SC.NOT_WRITTEN
    assert files(place) == before
    assert sorted([file.name for file in tmp_path.iterdir()]) == ["link", "pairs"]


def test_failure_leaves_no_files(tmp_path: Path) -> None:
    def broken(pair: Pair) -> Pair:
        raise RuntimeError(pair.id)

    with pytest.raises(RuntimeError):
        make_dataset(str(tmp_path / "pairs"), random_pairs(500), request(50, 1), finish=broken)
    with pytest.raises(NothingSelected, match="no candidate is left for training"):
        make_dataset(str(tmp_path / "pairs"), random_pairs(0), request(50, 1))
    assert list(tmp_path.iterdir()) == []


def test_a_split_without_pairs_has_no_file(tmp_path: Path) -> None:
    only_train = (pair for pair in random_pairs(200) if pair.split == "train")
    make_dataset(str(tmp_path / "pairs"), only_train, request(40))
    assert sorted(files(tmp_path / "pairs")) == ["README.md", "report.json", "train.jsonl"]
    assert "test.jsonl" not in (tmp_path / "pairs" / "README.md").read_text(encoding="utf-8")


def test_statistics_count_pairs_by_their_fields() -> None:
    pair = next(random_pairs(1))
    rejected = "".join([f"(take robot {name})\n" for name in ("pear", "lamp", "apple")])
    result = statistics([replace(pair, chosen="(go robot)\n", rejected=rejected), pair])
    assert result["lengths"]["rejected"]["most"] == max(3, len(pair.actions.rejected))
    assert result["by"]["difference"]["other steps"] >= 1 and result["by"]["rule"] == {pair.rule: 2}
