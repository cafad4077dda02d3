"""Texts that people wrote: the shipped domain, specifications, examples and conformance cases, and public data sets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from shape_judge import Task

from plansafe.grammar.expected import refusal
from plansafe.grammar.source import Source

ROOT = Path(__file__).resolve().parents[2]
HOUSEHOLD = ROOT / "domains" / "plansafe" / "domains" / "household" / "domain.pddl"
MAX_CHARACTERS = 40_000


class Entry(NamedTuple):
    """A text of a kind, and the task it is read with."""

    name: str
    kind: str
    text: str
    task: Task


def read(path: Path) -> str:
    return Source.from_bytes(path.name, path.read_bytes()).text


def _sound(kind: str, text: str) -> str:
    """The text, if it can stand beside the one that is judged: the elaborator looks at both or at neither."""
    return text if refusal(kind, text) is None else f"(define ({kind} d) {'(:goal ())' if kind == 'problem' else ''})"


def _entries(folder: Path, task: Task, names: dict[str, str]) -> list[Entry]:
    found = [(folder / name, kind) for name, kind in names.items()]
    return [Entry(str(path), kind, read(path), task) for path, kind in found if path.is_file()]


_KINDS = {".plan": "plan", ".safe": "specification"}


def shipped() -> list[Entry]:
    """What is in the repository."""
    out: list[Entry] = []
    for folder in sorted((ROOT / "tests" / "conformance").iterdir()):
        if (folder / "domain.pddl").is_file() and (folder / "problem.pddl").is_file():
            task = Task(
                _sound("domain", read(folder / "domain.pddl")), _sound("problem", read(folder / "problem.pddl"))
            )
            out += _entries(folder, task, {"domain.pddl": "domain", "problem.pddl": "problem", "plan": "plan"})
    problems = sorted((ROOT / "examples").rglob("problem.pddl"))
    task = Task(read(HOUSEHOLD), read(problems[0]))
    out.append(Entry(str(HOUSEHOLD), "domain", task.domain, task))
    out += [Entry(str(path), "specification", read(path), task) for path in sorted((ROOT / "specs").rglob("*.safe"))]
    for path in sorted((ROOT / "examples").rglob("*.*")):
        own = path.parent / "domain.pddl"
        kind = {"domain.pddl": "domain", "problem.pddl": "problem"}.get(path.name) or _KINDS.get(path.suffix)
        if kind is not None:
            about = Task(read(own), read(path.parent / "problem.pddl")) if own.exists() else task
            out.append(Entry(str(path), kind, read(path), about))
    return out


def public() -> list[Entry]:
    """Domains and problems of public data sets (``PLANSAFE_DATA``); empty where they are missing."""
    data = Path(os.environ.get("PLANSAFE_DATA", ROOT.parent / "shared" / "data"))
    out: list[Entry] = []
    for domain in sorted(data.rglob("*.pddl")):
        if domain.parent.name == "domain":
            problems = sorted((domain.parent.parent / "problem_pddl").rglob("*.pddl"))
        elif domain.name == "domain.pddl":
            problems = [domain.with_name("problem.pddl")]
        else:
            continue
        task = Task(_sound("domain", read(domain)), _sound("problem", read(problems[0])))
        out.append(Entry(str(domain), "domain", read(domain), task))
        out += [Entry(str(path), "problem", read(path), task) for path in problems]
    return [entry for entry in out if len(entry.text) <= MAX_CHARACTERS]
