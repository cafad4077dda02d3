"""What kind of file a text is, by its content, and which files of a folder are plans."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

HEAD = 65_536
"""How much of a text is looked at, in characters: headings stand at the beginning."""


class Kind(Enum):
    """What a text is, as far as its beginning tells."""

    DOMAIN = "domain"
    PROBLEM = "problem"
    PLAN = "plan"
    SAFETY = "safety"
    MAPPING = "mapping"
    STEPS = "steps"
    EMPTY = "empty"
    OTHER = "other"


class Heading(NamedTuple):
    """What the beginning of a text says: its kind, its own name, and the domain and problem that it names."""

    kind: Kind
    name: str | None = None
    domain: str | None = None
    problem: str | None = None


_COMMENT = re.compile(r";[^\r\n]*")
_DEFINE = re.compile(r"\s*\(\s*define\s*\(\s*(domain|problem|plan|safety|mapping)\s+([^\s()]+)", re.IGNORECASE)
_DOMAIN = r"(?i)\(\s*:domain\s+([^\s()]+)"
_PROBLEM = r"(?i)\(\s*:problem\s+([^\s()]+)"
# A whole step, and then the beginning of another or nothing: "(see above) for details" is prose.
_STEP = re.compile(
    r"""\s*(?:[\d.]+\s*:\s*)?\(\s*(?!define\b)[^\s()?":][^\s()?"]*(?:\s+[^\s()?"]+)*+\s*\)\s*(?:\[[^\]\r\n]*\]\s*)?(?:\(|[\d.]+\s*:|\Z)""",
    re.IGNORECASE,
)
_REMARK = re.compile(r"(?<!;);++!?[ \t]*+(domain|problem)[ \t]*:[ \t]*([^\r\n]+)", re.IGNORECASE)
_LEADING_COMMENTS = re.compile(r"(?>\s+|;[^\r\n]*)*+")
_PLAN_NAME = r"(?i)(?:.*\.(?:plan|soln|solution|pddl)|(?:sas_)?plan)(?:\.\d+)?\Z"
# Patterns that most runs never use are texts: they are compiled at first use.


def heading(text: str) -> Heading:
    """Say what a text is. Constant time: only the first ``HEAD`` characters are read."""
    return _heading(text[:HEAD])


@lru_cache(maxsize=4096)  # the plans of a folder are looked at twice: are they plans, and what do they name
def _heading(head: str) -> Heading:
    clean = _COMMENT.sub(" ", head) if ";" in head else head
    defined = _DEFINE.match(clean)
    if defined is not None:
        domain = re.search(_DOMAIN, clean[defined.end() :])
        problem = re.search(_PROBLEM, clean[defined.end() :])
        return Heading(
            Kind(defined[1].lower()), defined[2].lower(), domain[1] if domain else None, problem[1] if problem else None
        )
    if not clean or clean.isspace():
        kind = Kind.EMPTY
    else:
        kind = Kind.STEPS if _STEP.match(clean) else Kind.OTHER
    remarks = _remarks(head) if ";" in head else {}
    return Heading(kind, None, remarks.get("domain"), remarks.get("problem"))


def _remarks(head: str) -> dict[str, str]:
    """Collect the ``; domain: path`` comments before the first step; editors write ``;;!domain: name``."""
    start = _LEADING_COMMENTS.match(head)
    found: dict[str, str] = {}
    for remark in _REMARK.finditer(head, 0, start.end() if start else 0):
        found.setdefault(remark[1].lower(), remark[2].strip())
    return found


def plans_below(folder: str) -> Iterator[str]:
    """Yield the plan files of a folder and the folders in it, in order of their names.

    Content decides. Where it does not, because the text is empty or broken, a file named like a plan (or ``.pddl``)
    counts as a plan, so that a broken one is reported, not passed over. Hidden files and links to folders are left out.
    """
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    below = []
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            below.append(entry.path)
        elif entry.is_file():
            kind = heading_of_file(entry.path).kind
            unclear = kind in (Kind.EMPTY, Kind.OTHER)
            if kind in (Kind.PLAN, Kind.STEPS) or (unclear and re.match(_PLAN_NAME, entry.name)):
                yield entry.path
    for place in below:
        yield from plans_below(place)


def heading_of_file(path: str) -> Heading:
    """Say what a file is; a file that cannot be read is of kind ``OTHER``."""
    try:
        with open(path, "rb") as file:
            data = file.read(HEAD)
    except OSError:
        return Heading(Kind.OTHER)
    return heading(data.decode("utf-8", "surrogateescape").removeprefix("\ufeff"))
