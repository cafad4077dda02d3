"""The index of the pages, ``docs/README.md``: one line a page says what it is called, what it says and where it stands.

A section (``##``) with a table is a kind of page; the last column of a row is its group in the navigation.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

KINDS = ("Tutorials", "How-to guides", "Reference", "Explanation")
_ROW = re.compile(r"\| *\[([^\]]+)\]\(([\w-]+\.md)\) *\|(.*)\|([^|]*)\|\s*\Z")
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


class Entry(NamedTuple):
    """A page: its file in ``docs/``, its title in the navigation, its kind, its group (or none)."""

    page: str
    title: str
    kind: str
    group: str


def title_of(text: str) -> str:
    """The first heading of a page. Raises ``ValueError`` where there is none."""
    found = _TITLE.search(text)
    if found is None:
        raise ValueError("a page begins with `# Title`")
    return found[1]


def read_index(docs: Path) -> list[Entry]:
    """The rows of the index, in their order. A row that shows the name of the file is called as its page is."""
    entries, kind = [], ""
    for line in (docs / "README.md").read_text(encoding="utf-8").splitlines():
        row = _ROW.match(line)
        if line.startswith("## "):
            kind = line[3:].strip()
        elif row:
            title, page = row[1], row[2]
            if title == page and (docs / page).is_file():
                title = title_of((docs / page).read_text(encoding="utf-8"))
            entries.append(Entry(page, title, kind, row[4].strip()))
    return entries


def mistakes(docs: Path, entries: list[Entry]) -> list[str]:
    """What is wrong with the index, each with what to do about it."""
    there = {path.name for path in docs.glob("*.md")} - {"README.md"}
    counted = Counter([entry.page for entry in entries])
    said = [
        f"docs/{page} has no place: add `| [Title]({page}) | what it says | group |` to docs/README.md, "
        f"below one of {', '.join(KINDS)}"
        for page in sorted(there - counted.keys())
    ]
    said += [f"docs/README.md names {page}, which is not there" for page in sorted(counted.keys() - there)]
    said += [
        f"docs/README.md has {count} rows for {page}: one is its place" for page, count in counted.items() if count > 1
    ]
    said += [
        f"{e.page} stands in the section {e.kind!r}, which is none of {', '.join(KINDS)}"
        for e in entries
        if e.kind not in KINDS
    ]
    groups = [(entry.kind, entry.group) for entry in entries]
    starts = [group for before, group in zip([None, *groups], groups, strict=False) if group != before]
    for (kind, group), count in Counter(starts).items():
        if count > 1:
            said.append(f"the group {group!r} of {kind} is in {count} places: put its rows side by side")
    titles = Counter([(entry.kind, entry.title) for entry in entries])
    said += [f"two pages of {kind} are called {title!r}" for (kind, title), count in titles.items() if count > 1]
    return said
