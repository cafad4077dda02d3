"""Convert the Markdown of GitHub to the Markdown of mkdocs: lists, links, names of headings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

_FENCE = re.compile(r"^\s*(```|~~~)")
_ITEM = re.compile(r"^(\s*)([-*]|\d+\.) ")
_LINK = re.compile(r"(!?)\[((?:[^\[\]`]|`[^`]*`)*)\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^(#{1,6}) (.+?)\s*$")
_MARKED = re.compile(r"(`+)(.+?)\1|\*\*|\[([^\]]*)\]\([^)]*\)")


def mark_prose(text: str) -> Iterator[tuple[bool, str]]:
    """Each line, with True if it is prose (outside of code blocks)."""
    in_code = False
    for line in text.splitlines():
        fence = _FENCE.match(line) is not None
        yield not (in_code or fence), line
        in_code ^= fence


def heading_slug(heading: str) -> str:
    """The anchor that GitHub generates for a heading."""
    plain = _MARKED.sub(lambda match: match[2] or match[3] or "", heading)
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def heading_anchors(text: str) -> set[str]:
    """The anchors of a page."""
    names: set[str] = set()
    for is_prose, line in mark_prose(text):
        heading = _HEADING.match(line) if is_prose else None
        if heading:
            name, number = heading_slug(heading[2]), 0
            while (f"{name}-{number}" if number else name) in names:
                number += 1
            names.add(f"{name}-{number}" if number else name)
    return names


def find_links(text: str) -> Iterator[str]:
    """The link targets of a page."""
    for is_prose, line in mark_prose(text):
        if is_prose:
            plain = re.sub(r"`[^`]*`", "", line)
            yield from [link_match[1] for link_match in re.findall(r"(\[|^)[^\]]*\]\(([^)\s]+)\)", plain)]


def to_mkdocs(text: str, map_target: Callable[[str], str | None]) -> str:
    """A page in the Markdown of mkdocs. ``map_target`` maps link targets; a link mapped to ``None`` becomes text."""

    def link(match: re.Match[str]) -> str:
        target = match[3] if ":" in match[3] else map_target(match[3])
        return match[2] if target is None else f"{match[1]}[{match[2]}]({target})"

    lines: list[str] = []
    in_list = False
    for is_prose, line in mark_prose(text):
        if is_prose:
            list_item = _ITEM.match(line)
            if list_item and not in_list and lines and lines[-1].strip():
                lines.append("")  # a list needs an empty line before it
            in_list = list_item is not None or (in_list and line.startswith(" ")) or (in_list and bool(line.strip()))
            if not line.strip():
                in_list = False
            line = _LINK.sub(link, line)
        elif (
            _FENCE.match(line) and lines and lines[-1].strip() and not line.startswith(" ") and not _is_code_open(lines)
        ):
            lines.append("")
        lines.append(line)
    return "\n".join(lines) + "\n"


def _is_code_open(lines: list[str]) -> bool:
    """True if a code block is open at the end."""
    return sum(_FENCE.match(line) is not None for line in lines) % 2 == 1


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table, without columns that are empty in every row; the cells are Markdown."""
    columns = [column for column in range(len(header)) if any([row[column] for row in rows])]
    lines = [
        [header[column] for column in columns],
        ["---"] * len(columns),
        *[[row[column] for column in columns] for row in rows],
    ]
    return [f"| {' | '.join(line)} |" for line in lines]


def index_page(title: str, introduction: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A page with one table, which gets the place of the table of contents."""
    lines = ["---", "hide: [toc]", "---", "", f"# {title}", "", introduction, "", *table(header, rows), ""]
    return "\n".join(lines)


def table_cell(text: str) -> str:
    """Text for a table cell, with markup escaped."""
    text = " ".join(text.split())
    return re.sub(r"([\\|<>*_\[\]#])", r"\\\1", text).replace("`", "\\`") if "`" not in text else _cell_with_code(text)


def _cell_with_code(text: str) -> str:
    """Text for a table cell that contains inline code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return table_cell(text.replace("`", "'"))
    return "".join(
        [
            f"`{part.replace('|', chr(92) + '|')}`" if index % 2 else (table_cell(part) and _escaped_with_spaces(part))
            for index, part in enumerate(parts)
        ]
    )


def _escaped_with_spaces(part: str) -> str:
    """Escaped text between inline code, with the spaces at its ends."""
    escaped = table_cell(part)
    return f"{' ' if part[:1] == ' ' else ''}{escaped}{' ' if part[-1:] == ' ' and escaped else ''}"


def inline_code(text: str) -> str:
    """Inline code that is also valid in a table."""
    return f"`{text.replace('|', chr(92) + '|')}`" if text else ""


def code_block(kind: str, text: str) -> str:
    """A fenced code block, with a fence longer than any in the text."""
    longest = max([3, *[len(run) + 1 for run in re.findall(r"`{3,}", text)]])
    return f"{'`' * longest}{kind}\n{text.rstrip()}\n{'`' * longest}\n"
