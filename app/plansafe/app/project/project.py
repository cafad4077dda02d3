"""The content of a project file, and the places of its keys."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from plansafe.grammar.diagnostics import Label, Span
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.source import Source

if TYPE_CHECKING:
    from plansafe.verifier.rules.home_profile import ProfileEntry

STEM = "{stem}"
"""The placeholder in a pattern for the file name of the plan without folder and suffix."""
_SECTION = r"""(?m)^[ \t]*\[[ \t]*tool["']?[ \t]*\.[ \t]*["']?safecheck"""
_LIMITS = r"(?m)^[ \t]*\[[^\]\r\n]*limits"


def plan_stem(plan: str) -> str:
    """The file name of a plan without folder, suffix and ``.gz``."""
    return os.path.splitext(os.path.basename(plan).removesuffix(".gz"))[0]


class Limits(NamedTuple):
    """Limits on the work for a plan; ``None``: the default of the command."""

    time: float | None = None
    memory: int | None = None
    findings: int | None = None
    instances: int | None = None


class Project(NamedTuple):
    """The content of a project file; ``None`` for missing keys.

    Paths are as in the file; :meth:`resolve` makes them relative to the current folder. ``problem``, ``scene`` and
    ``goal`` may be patterns, which :meth:`for_plan` fills in.
    """

    source: Source
    domain: str | None = None
    problem: str | None = None
    specifications: tuple[str, ...] | None = None
    world: str | None = None
    scene: str | None = None
    goal: str | None = None
    judge: str | None = None
    min_severity: str | None = None
    blame: tuple[str, ...] | None = None
    home: str | None = None
    format: str | None = None
    ignore: tuple[ProfileEntry, ...] | None = None
    select: tuple[ProfileEntry, ...] | None = None
    baseline: str | None = None
    allow_in_plans: bool | None = None
    limits: Limits = Limits()

    @property
    def path(self) -> str:
        """The path of the project file, from the current folder."""
        return self.source.name

    def resolve(self, path: str) -> str:
        """Make a path in the project file relative to the current folder."""
        joined = os.path.join(os.path.dirname(self.path), path)
        return os.path.join(os.curdir, joined) if joined == "-" else joined  # `-` alone means standard input

    def for_plan(self, pattern: str, plan: str) -> str:
        """The file that a pattern names for the plan with path ``plan``, from the current folder."""
        return self.resolve(pattern.replace(STEM, plan_stem(plan)))

    def matching(self, pattern: str | None) -> list[str]:
        """All files that a pattern can name, in order."""
        if pattern is None:
            return []
        import glob  # noqa: PLC0415 - only the linter needs it

        return sorted(glob.glob("*".join([glob.escape(part) for part in self.resolve(pattern).split(STEM)])))

    def place(self, key: str) -> Label:
        """Locate a key."""
        return Label(self.path, key_span(self.source.text, key), "")

    def line(self, key: str) -> int:
        """The line of a key."""
        return self.source.position(self.place(key).span.start)[0]


def key_span(text: str, key: str) -> Span:
    """Locate a key in a TOML text, because `tomllib` does not report places; otherwise the start of its table."""
    section = re.search(_SECTION, text)
    start = section.start() if section is not None else 0
    if key in Limits._fields:
        table = re.compile(_LIMITS).search(text, start)
        start = table.end() if table is not None else start
    name = rf"(?P<key>[\"']?{re.escape(key)}[\"']?)"
    patterns = (
        rf"^[ \t]*(?:[\w.\"'-]+\.)?{name}[ \t]*[=.]",
        rf"^[ \t]*\[[^\]\r\n#]*{name}",
        rf"(?<![\w-]){name}[ \t]*=",
    )
    matches = (re.compile(pattern, re.MULTILINE).search(text, start) for pattern in patterns)
    best = next((match for match in matches if match is not None), None)
    return Span(*best.span("key")) if best is not None else Span(start, start)
