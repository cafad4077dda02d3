"""Deeply nested JSON from outside is refused by every reader, for every recursion limit of Python."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from plansafe.align.records import BadRecords, read_pairs
from plansafe.grammar.shallow_json import loads
from plansafe.llm.bench.run_file import BadRun, read_run
from plansafe.llm.models.received import Garbage, read_object
from plansafe.llm.models.request import JsonSchema

DEEP = 200_000


@pytest.fixture(autouse=True)
def high_limit() -> Iterator[None]:
    """Raise the recursion limit, as compilation does; the standard library's reader would then crash the process."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000_000)
    yield
    assert sys.getrecursionlimit() == 1_000_000
    sys.setrecursionlimit(limit)


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_deep_texts_are_refused(opening: str) -> None:
    with pytest.raises(RecursionError):
        loads(opening * DEEP)
    with pytest.raises(ValueError, match="too deep"):
        JsonSchema(opening * DEEP)
    with pytest.raises(Garbage):
        read_object((opening * DEEP).encode())


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_deep_files_are_refused(opening: str, tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text(opening * DEEP + "\n")
    refused: list[tuple[type[Exception], Callable[[str], object]]] = [
        (BadRecords, lambda file_name: list(read_pairs(file_name))),
        (BadRun, read_run),
    ]
    for error, read in refused:
        with pytest.raises(error):
            read(str(path))


def test_shallow_texts_are_read() -> None:
    assert loads(b'{"a": [[1]]}') == {"a": [[1]]}
    assert loads("[1.5]", parse_float=str) == ["1.5"]
    with pytest.raises(ValueError, match="Expecting"):
        loads("{")
