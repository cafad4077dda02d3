"""The records of ACPBench-Hard, and the parts of their texts that an answer needs."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from plansafe.grammar.source import Source

GROUPS = {
    "app": "applicable_actions_gen",
    "prog": "progression_gen",
    "reach": "reachable_atom_gen",
    "areach": "reachable_action_gen",
    "val": "validation_gen",
    "just": "action_justification_gen",
    "land": "landmarks_gen",
    "nexta": "goal_closer_gen",
}
"""The tasks, with the name that their records have in the field ``group``."""
TASKS = {group: task for task, group in GROUPS.items()}
_STEP = re.compile(r"\([^()]*\)")


class Record(NamedTuple):
    """A question about a task in PDDL. ``stored``: the answer that the benchmark stores."""

    id: int
    task: str
    context: str
    question: str
    stored: Any
    domain: Source
    problem: Source

    @property
    def name(self) -> str:
        """The task with the domain's name, for messages."""
        match = re.search(r"\(\s*domain\s+([^\s()]+)", self.domain.text)
        return f"{self.task}/{match.group(1) if match else 'unnamed'}"

    @property
    def quoted_text(self) -> str:
        """The text in quotation marks: a plan, or the description of an action."""
        match = re.search(r'"(.*)"', self.question, re.DOTALL)
        return match.group(1) if match else ""

    @property
    def quoted_steps(self) -> list[str]:
        """The steps of the plan in quotation marks, as they are written."""
        return [" ".join(step.split()) for step in _STEP.findall(self.quoted_text)]

    @property
    def propositions(self) -> list[str]:
        """The words in the place of predicates in the context's list of available propositions; empty without one."""
        _, separator, listed = self.context.partition("available propositions are:")
        return [head.lower().split()[0] for head in re.findall(r"\(([^()]+)\) - ", listed)] if separator else []


def make_record(entry: dict[str, Any]) -> Record:
    """Return a record from its JSON. Raises ``KeyError`` for an unknown group or a missing field."""
    return Record(
        int(entry["id"]),
        TASKS[entry["group"]],
        entry["context"],
        entry["question"],
        entry.get("answer"),
        Source("domain.pddl", entry["PDDL_domain"]),
        Source("problem.pddl", entry["PDDL_problem"]),
    )


def read_records(path: Path) -> Iterator[Record]:
    """Read a file of records, or all files ``*.gen.json`` and ``*.gen.json.gz`` of a folder, in the order of tasks."""
    if path.is_dir():
        for task in GROUPS:
            for file in sorted(path.glob(f"{task}.*gen.json*")):
                yield from read_records(file)
        return
    data = path.read_bytes()
    for entry in json.loads(gzip.decompress(data) if path.suffix == ".gz" else data):
        yield make_record(entry)
