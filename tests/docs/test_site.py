"""The site of the documentation, as far as it is made without mkdocs: places and links."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.site.index import KINDS, mistakes, read_index
from doc_blocks import ROOT

DOCS = ROOT / "docs"


def test_every_page_has_one_place() -> None:
    entries = read_index(DOCS)
    assert not mistakes(DOCS, entries), "\n".join(mistakes(DOCS, entries))
    assert {entry.kind for entry in entries} == set(KINDS)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("| [b.md](b.md) | says | G |", "docs/a.md has no place: add `| [Title](a.md) |"),
        ("| [A](a.md) | says | G |\n| [B](b.md) | says | G |\n| [C](c.md) | . | G |", "names c.md, which is not there"),
        ("| [A](a.md) | says | G |\n| [B](b.md) | says | G |\n| [D](b.md) | says | G |", "has 2 rows for b.md"),
        ("| [A](a.md) | says | G |\n| [B](b.md) | says | H |\n\n## More\n| [B](b.md) | . | |", "none of Tutorials"),
        ("| [A](a.md) | says | G |\n| [A](b.md) | says | G |", "two pages of Reference are called 'A'"),
    ],
)
def test_a_wrong_index_is_noticed(rows: str, said: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.md").write_text(f"# {name.upper()}\n", encoding="utf-8")
    (tmp_path / "README.md").write_text(f"# docs\n\n## Reference\n\n{rows}\n", encoding="utf-8")
    assert [line for line in mistakes(tmp_path, read_index(tmp_path)) if said in line]
