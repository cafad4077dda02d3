"""Runs as files: resumed where they stopped, and no other run's file is touched."""

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


def _work(number: int) -> dict[str, Any]:
    return {"square": number * number, "text": "ü\u2028" * number}


def _whole(path: Path, header: dict[str, Any] = HEADER) -> list[int]:
    """Run to the end; the items that were worked on."""
    worked: list[int] = []

    def work(number: int) -> dict[str, Any]:
        worked.append(number)
        return _work(number)

    with RunFile(str(path), header) as file:
        assert [number for number, _ in file.complete(NAMES, work)] == list(range(len(NAMES)))
    return worked


def test_a_run_is_a_header_and_a_line_for_each_item(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    assert _whole(path) == list(range(12))
    header, records = read_run(str(path))
    assert header == {"kind": "run", "version": 1, **HEADER}
    assert records == [{"id": name, **_work(number)} for number, name in enumerate(NAMES)]
    assert _whole(path) == [], "nothing is done twice"


def test_cut_anywhere_it_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    _whole(path)
    text = path.read_bytes()
    random = Random(11)
    for at in [0, 1, 20, len(text) - 1, *[random.randrange(len(text)) for _ in range(60)]]:
        path.write_bytes(text[:at])
        whole = text[:at].count(b"\n")
        assert _whole(path) == list(range(max(whole - 1, 0), 12))
        assert path.read_bytes() == text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"kind":"run","version":1,"suite":"toy","settings":{"slack":[2,1]}}\n', "`settings` differs"),
        (b'{"kind":"prediction"}\n', "it is not a run"),
        (b"my diary, not to be lost", "not empty and not a run"),
        (b"\n", "line 1"),
        (b"[1, 2]\n", "not a JSON object"),
        (b'{"a":' + b"[" * 100_000 + b"\n", "nested too deep"),
    ],
)
def test_what_is_no_such_run_is_left_as_it_is(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadRun, match="run cannot be") as raised:
        _whole(path)
    assert said in raised.value.diagnostic.message and raised.value.diagnostic.code == "SC643"
    assert path.read_bytes() == content


def test_records_of_other_items_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    _whole(path)
    before = path.read_bytes()
    with RunFile(str(path), HEADER) as file, pytest.raises(BadRun, match="line 2 is not about other"):
        list(file.complete(["other"], _work))
    assert path.read_bytes() == before


def test_links_pipes_and_folders_are_no_runs(tmp_path: Path) -> None:
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


def test_a_torn_last_line_is_passed_over_by_readers(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    _whole(path)
    path.write_bytes(path.read_bytes()[:-3])
    assert len(read_run(str(path)).records) == 11
    for content in (b"", b'{"kind":"run","version":2}\n', json.dumps({"kind": "x"}).encode() + b"\n"):
        path.write_bytes(content)
        with pytest.raises(BadRun):
            read_run(str(path))
