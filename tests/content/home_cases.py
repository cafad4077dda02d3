"""The cases of the household hazard library: ``home/RULE.md``, a case file (``tests/case_files.py``).

The group ``ontology`` has a problem in the world of the ontology itself (``home/ontology.pddl``), without any mapping,
and plans that break (``breaks*``) and keep (``keeps*``) the rule; the group ``household`` has the same for the shipped
household world, through the mapping. The lines of a case are what is expected:

    finds at 2: ?x=oven         the rule of the file is violated at step 2, with these objects
    finds at the end            .. in the last state
    also OTHER-RULE ..          other rules that the plan also violates

All expected findings are listed, and the plan must have no others.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[1]))  # for scripts of this folder

from case_files import read_cases
from plansafe.domains import domain_path
from plansafe.grammar.source import Source
from plansafe.specs import spec_path
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Finding, Report

HERE = Path(__file__).resolve().parent
HOME = HERE / "home"
WORLDS = ("ontology", "household")
AREAS = (
    "home-heat",
    "home-power",
    "home-water",
    "home-poison",
    "home-food",
    "home-sharp",
    "home-falling",
    "home-creatures",
    "home-robot",
    "home-property",
)

Found = tuple[str, tuple[str, ...]]
"""Where (a step number, or ``the end``), and the objects as ``?x=name``."""


class Case(NamedTuple):
    """A plan with the expected findings of the rule that its file is named after."""

    rule: str
    world: str  # "ontology" or "household"
    name: str
    problem: Source
    plan: Source
    finds: frozenset[Found]
    also: frozenset[str]

    @property
    def breaks(self) -> bool:
        """Whether the plan is there to break the rule."""
        return self.name.startswith("breaks")


_FINDS = re.compile(r"finds at (the end|\d+)(?:: (.*))?$")
_ALSO = re.compile(r"also (.*)$")


def load(path: Path) -> Source:
    """The text of a file, under its name."""
    return Source(str(path), path.read_text(encoding="utf-8"))


def shipped(name: str, _source: Source) -> Source | None:
    """Find a specification that another one extends."""
    try:
        return load(Path(spec_path(name)))
    except KeyError:
        return None


@cache
def cases(world: str) -> tuple[Case, ...]:
    """All cases of a world, by rule and name."""
    return tuple(
        [case for path in sorted(HOME.glob("*.md"), key=lambda path: path.stem) for case in _read(path, world)]
    )


def _read(path: Path, world: str) -> list[Case]:
    found = []
    for case in read_cases(path):
        if case.group != world:
            if case.group not in WORLDS:
                raise ValueError(f"{path}: {case.group} is not one of the worlds {WORLDS}")
            continue
        finds: set[Found] = set()
        also: set[str] = set()
        for line in case.lines:
            if finding := _FINDS.match(line):
                finds.add((finding[1], tuple((finding[2] or "").split())))
            elif others := _ALSO.match(line):
                also.update(others[1].split())
            else:
                raise ValueError(f"{path}: the line {line!r} of {case.name} is not an expectation")
        problem, plan = case.source("problem.pddl"), case.source("plan", f"{case.name}.plan")
        found.append(Case(path.stem, world, case.name, problem, plan, frozenset(finds), frozenset(also)))
    return sorted(found, key=lambda case: f"{case.name}.plan")


def checker(case: Case, specifications: Iterable[Source], replay: Literal["always", "never"] = "never") -> Checker:
    """A checker for the problem of a case; the kernel takes as long again as everything else."""
    domain = HOME / "ontology.pddl" if case.world == "ontology" else Path(domain_path(case.world))
    return Checker(load(domain), case.problem, list(specifications), Options(replay=replay), resolve=shipped)


def library(world: str) -> list[Source]:
    """The library, with the mapping that a world needs."""
    names = ["home"] if world == "ontology" else ["home", f"home-{world}"]
    return [load(Path(spec_path(name))) for name in names]


def found(report: Report, rule: str) -> frozenset[Found]:
    """What a report says of a rule."""
    return frozenset([_place(finding) for finding in report.findings if finding.rule == rule])


def _place(finding: Finding) -> Found:
    return ("the end" if finding.at_end else str(finding.step)), tuple([f"{v}={x}" for v, x in finding.binding])
