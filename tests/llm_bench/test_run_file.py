"""Files of runs: a run is resumed where it stopped, and the file of another run is not changed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from plansafe.llm.bench.run_file import BadRun, RunFile, read_run

HEADER = {"suite": "toy", "settings": {"slack": [3, 2]}}
NAMES = [f"item-{number}" for number in range(12)]


def make_item_record(number: int) -> dict[str, Any]:
    return {"square": number * number, "text": "ü\u2028" * number}


def complete_run(path: Path, header: dict[str, Any] = HEADER) -> list[int]:
    """Complete the run; return the items that were processed."""
    processed: list[int] = []

    def make_record(number: int) -> dict[str, Any]:
        processed.append(number)
        return make_item_record(number)

    with RunFile(str(path), header) as file:
        assert [number for number, _ in file.complete(NAMES, make_record)] == list(range(len(NAMES)))
    return processed


def test_a_run_is_a_header_and_a_line_for_each_item(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    assert complete_run(path) == list(range(12))
    header, records = read_run(str(path))
    assert header == {"kind": "run", "version": 1, **HEADER}
    assert records == [{"id": name, **make_item_record(number)} for number, name in enumerate(NAMES)]
    assert complete_run(path) == [], "nothing is done twice"


def test_a_cut_file_is_completed_to_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    complete_run(path)
    text = path.read_bytes()
    random = Random(11)
    for size in [0, 1, 20, len(text) - 1, *[random.randrange(len(text)) for _ in range(60)]]:
        path.write_bytes(text[:size])
        complete_lines = text[:size].count(b"\n")
        assert complete_run(path) == list(range(max(complete_lines - 1, 0), 12))
        assert path.read_bytes() == text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"kind":"run","version":1,"suite":"toy","settings":{"slack":[2,1]}}\n', "`settings` differs"),
        (b'{"kind":"prediction"}\n', "it is not a run"),
        (b"my diary, not to be lost", "not empty and not a run"),
        (b"\n", "line 1"),
        (b"[1, 2]\n", "not a JSON object"),
        (b'{"a":' + b"[" * 100_000 + b"\n", "nested too deep"),
    ],
)
def test_a_file_that_is_not_this_run_is_not_changed(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadRun, match="run cannot be") as raised:
        complete_run(path)
    assert message in raised.value.diagnostic.message and raised.value.diagnostic.code == "SC643"
    assert path.read_bytes() == content


def test_records_of_other_items_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    complete_run(path)
    before = path.read_bytes()
    with RunFile(str(path), HEADER) as file, pytest.raises(BadRun, match="line 2 is not about other"):
        list(file.complete(["other"], make_item_record))
    assert path.read_bytes() == before


def test_links_pipes_and_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", ".", "no/such"):
        with pytest.raises(BadRun):
            RunFile(str(tmp_path / name), HEADER)
    assert (tmp_path / "real").read_bytes() == b""


def test_two_processes_do_not_write_one_run(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with RunFile(str(path), HEADER), pytest.raises(BadRun, match="another process"):
        RunFile(str(path), HEADER)


def test_readers_skip_an_incomplete_last_line(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    complete_run(path)
    path.write_bytes(path.read_bytes()[:-3])
    assert len(read_run(str(path)).records) == 11
    for content in (b"", b'{"kind":"run","version":2}\n', json.dumps({"kind": "x"}).encode() + b"\n"):
        path.write_bytes(content)
        with pytest.raises(BadRun):
            read_run(str(path))
