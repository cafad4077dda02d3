"""The files that are mutated, as cases: a domain, a problem, a plan, and sometimes a specification."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[1]))  # for scripts of this folder

import case_files
from case_files import TESTS, conformance_cases, read_cases

ROOT = TESTS.parent
SEEDS = Path(__file__).resolve().parent / "seeds"
PARTS = ("domain", "problem", "plan", "spec")
MAX_BYTES = 40_000  # of one file: mutations of small files cover more code in less time


class Case(NamedTuple):
    """The texts of one task. ``spec`` is empty if the task has no specification."""

    name: str
    domain: bytes
    problem: bytes
    plan: bytes
    spec: bytes = b""

    def part(self, name: str) -> bytes:
        """Return the text of one of ``PARTS``."""
        text: bytes = getattr(self, name)
        return text

    def with_part(self, name: str, text: bytes) -> Case:
        """Return the case with one text replaced."""
        return self._replace(**{name: text})


def load_cases(data: Path | None = None) -> list[Case]:
    """Return all cases, in a fixed order. ``data`` is the folder of public data sets; None omits their cases."""
    cases = [*_seeds(), *_examples(), *_rules(), *_tasks("conformance", conformance_cases().values())]
    cases += [*_tasks("differential", read_cases(TESTS / "differential" / "tasks.md")), *_micro()]
    if data is not None and data.is_dir():
        cases += [
            *_behavior(data / "eai-behavior"),
            *_virtualhome(data / "eai-virtualhome"),
            *_alfworld(data / "alfworld-pddl"),
        ]
    return [case for case in cases if max(len(case.part(part)) for part in PARTS) <= MAX_BYTES]


def default_data() -> Path:
    """Return the folder of public data sets: ``$PLANSAFE_DATA``, or a folder next to the repository."""
    return Path(os.environ.get("PLANSAFE_DATA", ROOT.parent / "shared" / "data"))


def _seeds() -> Iterator[Case]:
    """Yield small tasks that use every construct of the language; each plan with each specification."""
    for folder in sorted(SEEDS.iterdir()):
        domain, problem = (folder / "domain.pddl").read_bytes(), (folder / "problem.pddl").read_bytes()
        for plan in sorted([*folder.glob("plan"), *folder.glob("*.plan")]):
            for spec in sorted(folder.glob("*.safe")):
                name = f"seeds/{folder.name}/{plan.name}+{spec.stem}"
                yield Case(name, domain, problem, plan.read_bytes(), spec.read_bytes())


def _household() -> tuple[bytes, list[bytes]]:
    domain = (ROOT / "domains/plansafe/domains/household/domain.pddl").read_bytes()
    return domain, [path.read_bytes() for path in sorted((ROOT / "specs/plansafe/specs").glob("hazards-*.safe"))]


def _examples() -> Iterator[Case]:
    domain, specs = _household()
    for number, plan in enumerate(sorted((ROOT / "examples").rglob("*.plan"))):
        name = f"examples/{plan.parent.name}/{plan.name}"
        problem, local_domain = (plan.parent / "problem.pddl").read_bytes(), plan.parent / "domain.pddl"
        if local_domain.exists():
            local_specs = [path.read_bytes() for path in sorted(plan.parent.glob("*.safe"))]
            spec = local_specs[number % len(local_specs)]
            yield Case(name, local_domain.read_bytes(), problem, plan.read_bytes(), spec)
        else:
            yield Case(name, domain, problem, plan.read_bytes(), specs[number % len(specs)])


def _rules() -> Iterator[Case]:
    domain, specs = _household()
    for path in sorted((TESTS / "content" / "rules").glob("*.md"), key=lambda path: path.stem):
        spec = next((text for text in specs if f" {path.stem}\n".encode() in text), b"")
        for case in sorted(read_cases(path), key=lambda case: f"{case.name}.plan"):
            if case.name.endswith("s"):
                files = case.files
                yield Case(f"rules/{path.stem}/{case.name}.plan", domain, files["problem.pddl"], files["plan"], spec)


def _tasks(name: str, cases: Iterable[case_files.Case]) -> Iterator[Case]:
    for case in cases:
        yield Case(f"{name}/{case.name}", case.files["domain.pddl"], case.files["problem.pddl"], case.files["plan"])


def _micro() -> Iterator[Case]:
    for path in sorted((TESTS / "differential" / "micro").glob("*.cases")):
        sections: dict[str, bytes] = {}
        for block in f"\n{path.read_text(encoding='utf-8')}".split("\n=== ")[1:]:
            head, *parts = f"\n{block}".split("\n--- ")
            for part in parts:
                title, _, body = part.partition("\n")
                sections[title.strip()] = body.encode()
            yield Case(
                f"micro/{path.stem}/{head.split()[0]}", sections["domain"], sections["problem"], sections["plan"]
            )


def _gold_plans(folder: Path) -> dict[str, bytes]:
    try:
        plans: dict[str, list[str]] = json.loads((folder / "gold_pddl_plan.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return {name: "".join(f"({step})\n" for step in steps).encode() for name, steps in sorted(plans.items())}


def _behavior(folder: Path) -> Iterator[Case]:
    for name, plan in list(_gold_plans(folder).items())[::5]:
        problem = folder / "problem_pddl" / f"{name}.pddl"
        if problem.is_file():
            yield Case(
                f"behavior/{name}", (folder / "domain" / "behavior.pddl").read_bytes(), problem.read_bytes(), plan
            )


def _virtualhome(folder: Path) -> Iterator[Case]:
    plans = _gold_plans(folder)
    for problem in sorted((folder / "problem_pddl").glob("*/*.pddl"))[::10]:
        if problem.stem in plans:
            domain = (folder / "domain" / "virtualhome.pddl").read_bytes()
            yield Case(f"virtualhome/{problem.stem}", domain, problem.read_bytes(), plans[problem.stem])


def _alfworld(folder: Path) -> Iterator[Case]:
    domain = folder / "alfred.pddl"
    if domain.is_file():
        problem = b"""(define (problem p) (:domain alfred)
  (:objects agent1 - agent desk - location sofa - location pen - object)
  (:init (atLocation agent1 desk) (objectAtLocation pen desk) (= (totalCost) 0))
  (:goal (and (exists (?o - object) (holds agent1 ?o)))))
"""
        yield Case("alfworld/alfred", domain.read_bytes(), problem, b"(GotoLocation agent1 desk sofa)\n")
