"""Detect the kind of a file by its content, and list the plans of a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache

from plansafe.grammar.named_tuple import NamedTuple

HEAD = 65_536
"""Number of characters at the beginning of a text that are searched for a heading."""


class Kind(Enum):
    """Kind of a file, detected from its beginning."""

    DOMAIN = "domain"
    PROBLEM = "problem"
    PLAN = "plan"
    SAFETY = "safety"
    MAPPING = "mapping"
    STEPS = "steps"
    EMPTY = "empty"
    OTHER = "other"


class Heading(NamedTuple):
    """The beginning of a file: its kind, its declared name, and the domain and problem that it names."""

    kind: Kind
    name: str | None = None
    domain: str | None = None
    problem: str | None = None


_COMMENT = re.compile(r";[^\r\n]*")
_DEFINE = re.compile(r"\s*\(\s*define\s*\(\s*(domain|problem|plan|safety|mapping)\s+([^\s()]+)", re.IGNORECASE)
_DOMAIN = r"(?i)\(\s*:domain\s+([^\s()]+)"
_PROBLEM = r"(?i)\(\s*:problem\s+([^\s()]+)"
# A complete step, followed by another step or the end of the text: "(see above) for details" is prose.
_STEP = re.compile(
    r"""\s*(?:[\d.]+\s*:\s*)?\(\s*(?!define\b)[^\s()?":][^\s()?"]*(?:\s+[^\s()?"]+)*+\s*\)\s*(?:\[[^\]\r\n]*\]\s*)?(?:\(|[\d.]+\s*:|\Z)""",
    re.IGNORECASE,
)
_REMARK = re.compile(r"(?<!;);++!?[ \t]*+(domain|problem)[ \t]*:[ \t]*([^\r\n]+)", re.IGNORECASE)
_LEADING_COMMENTS = re.compile(r"(?>\s+|;[^\r\n]*)*+")
_PLAN_NAME = r"(?i)(?:.*\.(?:plan|soln|solution|pddl)|(?:sas_)?plan)(?:\.\d+)?\Z"
# Rarely used patterns are strings: `re` compiles them at first use.


def heading(text: str) -> Heading:
    """Read the heading of a text from its first ``HEAD`` characters."""
    return _heading(text[:HEAD])


@lru_cache(maxsize=4096)  # each plan of a folder is read twice: for its kind and for the names in it
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
    names: dict[str, str] = {}
    for remark in _REMARK.finditer(head, 0, start.end() if start else 0):
        names.setdefault(remark[1].lower(), remark[2].strip())
    return names


def plans_below(folder: str) -> Iterator[str]:
    """Yield the plan files of a folder and the folders in it, in order of their names.

    The content decides. If the text is empty or broken, a file with the name of a plan (or ``.pddl``) counts as a plan:
    broken plans are reported, not skipped. Hidden files and links to folders are skipped.
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
    """Read the heading of a file; the kind of an unreadable file is ``OTHER``."""
    try:
        with open(path, "rb", buffering=0) as file:
            data = file.read(HEAD)
    except OSError:
        return Heading(Kind.OTHER)
    return heading(data.decode("utf-8", "surrogateescape").removeprefix("\ufeff"))
