"""From the Markdown of GitHub, which the pages are written in, to that of mkdocs: lists, links, names of headings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_FENCE = re.compile(r"^\s*(```|~~~)")
_ITEM = re.compile(r"^(\s*)([-*]|\d+\.) ")
_LINK = re.compile(r"(!?)\[((?:[^\[\]`]|`[^`]*`)*)\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^(#{1,6}) (.+?)\s*$")
_MARKED = re.compile(r"(`+)(.+?)\1|\*\*|\[([^\]]*)\]\([^)]*\)")


def prose(text: str) -> Iterator[tuple[bool, str]]:
    """Each line, and whether it is prose: outside of blocks of code."""
    inside = False
    for line in text.splitlines():
        fence = _FENCE.match(line) is not None
        yield not (inside or fence), line
        inside ^= fence


def slug(heading: str) -> str:
    """The name that GitHub gives to a heading."""
    plain = _MARKED.sub(lambda m: m[2] or m[3] or "", heading)
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def anchors(text: str) -> set[str]:
    """What a link into a page may name."""
    found: set[str] = set()
    for open_text, line in prose(text):
        heading = _HEADING.match(line) if open_text else None
        if heading:
            name, number = slug(heading[2]), 0
            while (f"{name}-{number}" if number else name) in found:
                number += 1
            found.add(f"{name}-{number}" if number else name)
    return found


def links(text: str) -> Iterator[str]:
    """Where a page leads."""
    for open_text, line in prose(text):
        if open_text:
            plain = re.sub(r"`[^`]*`", "", line)
            yield from [found[1] for found in re.findall(r"(\[|^)[^\]]*\]\(([^)\s]+)\)", plain)]


def ready(text: str, place: Callable[[str], str | None]) -> str:
    """A page as mkdocs reads it. ``place`` says where a link leads there; ``None``: to nothing that the site has."""

    def link(found: re.Match[str]) -> str:
        target = found[3] if ":" in found[3] else place(found[3])
        return found[2] if target is None else f"{found[1]}[{found[2]}]({target})"

    lines: list[str] = []
    listed = False
    for open_text, line in prose(text):
        if open_text:
            item = _ITEM.match(line)
            if item and not listed and lines and lines[-1].strip():
                lines.append("")  # a list needs an empty line before it
            listed = item is not None or (listed and line.startswith(" ")) or (listed and bool(line.strip()))
            if not line.strip():
                listed = False
            line = _LINK.sub(link, line)
        elif _FENCE.match(line) and lines and lines[-1].strip() and not line.startswith(" ") and not _within(lines):
            lines.append("")
        lines.append(line)
    return "\n".join(lines) + "\n"


def _within(lines: list[str]) -> bool:
    """Whether a block of code is open at the end."""
    return sum(_FENCE.match(line) is not None for line in lines) % 2 == 1


def cell(text: str) -> str:
    """Text in a cell of a table: it ends nothing and marks nothing."""
    text = " ".join(text.split())
    return re.sub(r"([\\|<>*_\[\]#])", r"\\\1", text).replace("`", "\\`") if "`" not in text else _mixed(text)


def _mixed(text: str) -> str:
    """The same where some of it is code already."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return cell(text.replace("`", "'"))
    return "".join(
        [f"`{p.replace('|', chr(92) + '|')}`" if n % 2 else (cell(p) and _kept(p)) for n, p in enumerate(parts)]
    )


def _kept(part: str) -> str:
    """A part between code, with the spaces at its ends."""
    inner = cell(part)
    return f"{' ' if part[:1] == ' ' else ''}{inner}{' ' if part[-1:] == ' ' and inner else ''}"


def code(text: str) -> str:
    """A word as code, in a table, too."""
    return f"`{text.replace('|', chr(92) + '|')}`" if text else ""


def block(kind: str, text: str) -> str:
    """A block of code, whatever is in it."""
    longest = max([3, *[len(run) + 1 for run in re.findall(r"`{3,}", text)]])
    return f"{'`' * longest}{kind}\n{text.rstrip()}\n{'`' * longest}\n"
