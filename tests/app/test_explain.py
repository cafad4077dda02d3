"""Every code that the source can report has a page, and every page belongs to a code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plansafe.app.explain import codes, page

_CODE = re.compile(r"""["'](SC\d{3})["']""")
_ROOTS = ("grammar", "verifier", "specs", "domains", "app")


def codes_in_source(root: Path) -> set[str]:
    files = (file for folder in _ROOTS for file in (root / folder / "plansafe").rglob("*.py"))
    return {code for file in files for code in _CODE.findall(file.read_text(encoding="utf-8"))}


def test_codes_and_pages_are_the_same(root: Path) -> None:
    assert codes_in_source(root) == set(codes())


@pytest.mark.parametrize("code", codes())
def test_pages_have_a_title_an_example_and_a_way_out(code: str) -> None:
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
