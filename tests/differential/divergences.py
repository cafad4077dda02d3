"""Read bench/results/kairos-differences.md: the intended differences between safecheck's and kairos's verdicts.

Each entry is a heading ``## name`` with the reason below. A case names its entry; the mutants of a task belong to an
entry with the line ``- Mutants of `task`: kairos accepts`` (or ``rejects``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from casefile import Verdict, parse_verdict

ENTRY = re.compile(r"^## (\S+)$", re.MULTILINE)
MUTANTS = re.compile(r"^- Mutants of `([\w-]+)`: kairos (accept|reject)s", re.MULTILINE)


@dataclass(frozen=True)
class Divergences:
    """Names of the entries, and the entry for the mutants of each task and verdict of kairos."""

    names: frozenset[str]
    mutants: dict[tuple[str, Verdict], str]


def read_divergences(path: Path) -> Divergences:
    """Return the entries of the list."""
    _, *parts = ENTRY.split(path.read_text(encoding="utf-8"))
    mutants = {
        (task, parse_verdict(verdict)): name
        for name, body in zip(parts[::2], parts[1::2], strict=True)
        for task, verdict in MUTANTS.findall(body)
    }
    return Divergences(frozenset(parts[::2]), mutants)
