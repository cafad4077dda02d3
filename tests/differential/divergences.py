"""Reader of bench/results/kairos-differences.md: where we judge otherwise than kairos on purpose.

Each entry is a heading ``## name`` with its reason. Cases name their entry; mutants match by a line
``- Mutants of `task`: kairos accepts`` (or ``rejects``) below the heading.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from casefile import Verdict, verdict

ENTRY = re.compile(r"^## (\S+)$", re.MULTILINE)
MUTANTS = re.compile(r"^- Mutants of `([\w-]+)`: kairos (accept|reject)s", re.MULTILINE)


@dataclass(frozen=True)
class Divergences:
    """Names of the entries, and the entry for mutants of a task by what kairos says."""

    names: frozenset[str]
    mutants: dict[tuple[str, Verdict], str]


def read_divergences(path: Path) -> Divergences:
    """The entries of the list."""
    _, *parts = ENTRY.split(path.read_text(encoding="utf-8"))
    mutants = {
        (task, verdict(says)): name
        for name, body in zip(parts[::2], parts[1::2], strict=True)
        for task, says in MUTANTS.findall(body)
    }
    return Divergences(frozenset(parts[::2]), mutants)
