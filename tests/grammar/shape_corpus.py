"""Texts that people wrote: the shipped domain, specifications, examples and conformance cases, and public data sets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from shape_judge import Task

from case_files import conformance_cases
from plansafe.grammar.expected_syntax import find_refusal
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
    return _decoded(path.read_bytes())


def _decoded(content: bytes) -> str:
    return Source.from_bytes("", content).text


def _sound(kind: str, text: str) -> str:
    """The text, if it can stand beside the one that is judged: the elaborator looks at both or at neither."""
    return (
        text if find_refusal(kind, text) is None else f"(define ({kind} d) {'(:goal ())' if kind == 'problem' else ''})"
    )


def _entries(folder: Path, task: Task, names: dict[str, str]) -> list[Entry]:
    found = [(folder / name, kind) for name, kind in names.items()]
    return [Entry(str(path), kind, read(path), task) for path, kind in found if path.is_file()]


_KINDS = {".plan": "plan", ".safe": "specification"}


def shipped() -> list[Entry]:
    """What is in the repository."""
    out: list[Entry] = []
    for name, case in conformance_cases().items():
        texts = {file: _decoded(content) for file, content in case.files.items()}
        task = Task(_sound("domain", texts["domain.pddl"]), _sound("problem", texts["problem.pddl"]))
        kinds = {"domain.pddl": "domain", "problem.pddl": "problem", "plan": "plan"}
        out += [Entry(f"conformance/{name}/{file}", kind, texts[file], task) for file, kind in kinds.items()]
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
