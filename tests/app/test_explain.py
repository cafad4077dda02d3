"""Every code that the source can report has a page, and every page belongs to a code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plansafe.app.explain import codes, page
from plansafe.grammar.codes import SC

_CODE = re.compile(r"""["'](SC\d{3})["']""")
_ROOTS = ("grammar", "verifier", "specs", "domains", "llm", "align", "app")
_TABLE = "grammar/plansafe/grammar/codes.py"


def test_table_and_pages_have_the_same_titles(root: Path) -> None:
    rows = re.findall(
        r'^    [A-Z0-9_]+: Final = "(SC\d{3})"  # (.*)$', (root / _TABLE).read_text(encoding="utf-8"), re.M
    )
    assert dict(rows) == {code: (page(code) or "").splitlines()[0].removeprefix(f"# {code}: ") for code in codes()}
    assert len(rows) == len(codes())


def test_codes_are_named_and_each_is_used(root: Path) -> None:
    used: set[str] = set()
    for file in (file for folder in _ROOTS for file in (root / folder / "plansafe").rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if file != root / _TABLE:
            assert not _CODE.findall(text), f"{file} spells a code out: name it in {_TABLE}"
            used.update(re.findall(r"\bSC\.([A-Z0-9_]+)", text))
    assert used == {name for name in vars(SC) if name.isupper()}


@pytest.mark.parametrize("code", codes())
def test_pages_have_a_title_an_example_and_a_fix(code: str) -> None:
    text = page(code)
    assert text is not None
    lines = text.splitlines()
    assert lines[0].startswith(f"# {code}: ")
    assert [line for line in lines if line.startswith("## ")] == ["## Example", "## How to fix it"]
    assert text.count("```") == 2
    assert all(len(line) <= 120 for line in lines if "http" not in line)


@pytest.mark.parametrize("code", ["", "SC", "SC99", "SC2011", "../SC201", "SC201.md", "٢٠١", "SC000"])
def test_no_page(code: str) -> None:
    assert page(code) is None
