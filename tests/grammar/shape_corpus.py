"""Hand-written texts: the shipped domain, specifications, examples and conformance cases, and public data sets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from shape_judge import Task

from case_files import conformance_cases
from plansafe.grammar.expected_syntax import find_rejection
from plansafe.grammar.source import Source

ROOT = Path(__file__).resolve().parents[2]
HOUSEHOLD = ROOT / "domains" / "plansafe" / "domains" / "household" / "domain.pddl"
MAX_CHARACTERS = 40_000


class Entry(NamedTuple):
    """A text, its kind, and the task with which it is read."""

    name: str
    kind: str
    text: str
    task: Task


def read(path: Path) -> str:
    return _decode(path.read_bytes())


def _decode(content: bytes) -> str:
    return Source.from_bytes("", content).text


def _replace_if_refused(kind: str, text: str) -> str:
    """The text, or an empty one if the grammar refuses it: the elaborator reads either all texts or none."""
    return (
        text
        if find_rejection(kind, text) is None
        else f"(define ({kind} d) {'(:goal ())' if kind == 'problem' else ''})"
    )


_KINDS = {".plan": "plan", ".safe": "specification"}


def shipped() -> list[Entry]:
    """The texts in the repository."""
    entries: list[Entry] = []
    for name, case in conformance_cases().items():
        texts = {file: _decode(content) for file, content in case.files.items()}
        task = Task(
            _replace_if_refused("domain", texts["domain.pddl"]), _replace_if_refused("problem", texts["problem.pddl"])
        )
        kinds = {"domain.pddl": "domain", "problem.pddl": "problem", "plan": "plan"}
        entries += [Entry(f"conformance/{name}/{file}", kind, texts[file], task) for file, kind in kinds.items()]
    problems = sorted((ROOT / "examples").rglob("problem.pddl"))
    task = Task(read(HOUSEHOLD), read(problems[0]))
    entries.append(Entry(str(HOUSEHOLD), "domain", task.domain, task))
    entries += [
        Entry(str(path), "specification", read(path), task) for path in sorted((ROOT / "specs").rglob("*.safe"))
    ]
    for path in sorted((ROOT / "examples").rglob("*.*")):
        domain_path = path.parent / "domain.pddl"
        kind = {"domain.pddl": "domain", "problem.pddl": "problem"}.get(path.name) or _KINDS.get(path.suffix)
        if kind is not None:
            text_task = Task(read(domain_path), read(path.parent / "problem.pddl")) if domain_path.exists() else task
            entries.append(Entry(str(path), kind, read(path), text_task))
    return entries


def public() -> list[Entry]:
    """Domains and problems of public data sets (``PLANSAFE_DATA``); empty where they are missing."""
    data = Path(os.environ.get("PLANSAFE_DATA", ROOT.parent / "shared" / "data"))
    entries: list[Entry] = []
    for domain in sorted(data.rglob("*.pddl")):
        if domain.parent.name == "domain":
            problems = sorted((domain.parent.parent / "problem_pddl").rglob("*.pddl"))
        elif domain.name == "domain.pddl":
            problems = [domain.with_name("problem.pddl")]
        else:
            continue
        task = Task(_replace_if_refused("domain", read(domain)), _replace_if_refused("problem", read(problems[0])))
        entries.append(Entry(str(domain), "domain", read(domain), task))
        entries += [Entry(str(path), "problem", read(path), task) for path in problems]
    return [entry for entry in entries if len(entry.text) <= MAX_CHARACTERS]
