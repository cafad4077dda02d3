"""Read the index of the pages, ``docs/README.md``: one table row per page, with title and summary.

Each section (``##``) with a table is a kind of page; its subsections (``###``) are the groups of the navigation.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

KINDS = ("Tutorials", "How-to guides", "Reference", "Explanation")
_ROW = re.compile(r"\| *\[([^\]]+)\]\(([\w-]+\.md)\) *\|")
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


class PageEntry(NamedTuple):
    """A page: its file in ``docs/``, its title in the navigation, its kind, its group (can be empty)."""

    page: str
    title: str
    kind: str
    group: str


def read_title(text: str) -> str:
    """The first heading of a page. Raises ``ValueError`` if there is none."""
    heading = _TITLE.search(text)
    if heading is None:
        raise ValueError("a page must start with `# Title`")
    return heading[1]


def read_index(docs: Path) -> list[PageEntry]:
    """The rows of the index, in order. If a row shows the file name, the title is taken from the page."""
    entries, kind, group = [], "", ""
    for line in (docs / "README.md").read_text(encoding="utf-8").splitlines():
        row = _ROW.match(line)
        if line.startswith("## "):
            kind, group = line[3:].strip(), ""
        elif line.startswith("### "):
            group = line[4:].strip()
        elif row:
            title, page = row[1], row[2]
            if title == page and (docs / page).is_file():
                title = read_title((docs / page).read_text(encoding="utf-8"))
            entries.append(PageEntry(page, title, kind, group))
    return entries


def index_problems(docs: Path, entries: list[PageEntry]) -> list[str]:
    """The problems of the index, one message each, with the fix."""
    files = {path.name for path in docs.glob("*.md")} - {"README.md"}
    row_counts = Counter([entry.page for entry in entries])
    problems = [
        f"docs/{page} has no place: add `| [Title]({page}) | summary |` to docs/README.md, "
        f"below one of {', '.join(KINDS)}"
        for page in sorted(files - row_counts.keys())
    ]
    problems += [f"docs/README.md names {page}, which is not there" for page in sorted(row_counts.keys() - files)]
    problems += [
        f"docs/README.md has {count} rows for {page}; keep one" for page, count in row_counts.items() if count > 1
    ]
    problems += [
        f"{entry.page} is in the section {entry.kind!r}, which is none of {', '.join(KINDS)}"
        for entry in entries
        if entry.kind not in KINDS
    ]
    groups = [(entry.kind, entry.group) for entry in entries]
    group_starts = [group for previous, group in zip([None, *groups], groups, strict=False) if group != previous]
    for (kind, group), count in Counter(group_starts).items():
        if count > 1:
            problems.append(f"the rows of the group {group!r} of {kind} are in {count} places; put them together")
    titles = Counter([(entry.kind, entry.title) for entry in entries])
    problems += [f"two pages of {kind} are called {title!r}" for (kind, title), count in titles.items() if count > 1]
    return problems
