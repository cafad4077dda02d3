"""The cases of the household hazard library: ``home/RULE/{problem.pddl,breaks*.plan,keeps*.plan}``.

A case is in the world of the ontology itself (``home/ontology.pddl``), so that no mapping stands between a rule and its
cases; ``home/RULE/household/`` holds the same for the shipped household world, through the mapping. The first lines of
a plan say what is expected:

    ; finds at 2: ?x=oven         the rule of the folder is violated at step 2, with these objects
    ; finds at the end            .. in the last state
    ; also OTHER-RULE ..          other rules that are violated, too, and why the scene cannot do without

Everything expected is listed, and what is not listed must not be found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

from plansafe.domains import domain_path
from plansafe.grammar.source import Source
from plansafe.specs import spec_path
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Finding, Report

HERE = Path(__file__).resolve().parent
HOME = HERE / "home"
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
    """A plan with what it is expected to show of the rule that its folder is named after."""

    rule: str
    world: str  # "ontology" or "household"
    folder: Path
    name: str
    plan: Source
    finds: frozenset[Found]
    also: frozenset[str]

    @property
    def breaks(self) -> bool:
        """Whether the plan is there to break the rule."""
        return self.name.startswith("breaks")


_FINDS = re.compile(r"; finds at (the end|\d+)(?:: (.*))?$")
_ALSO = re.compile(r"; also (.*)$")


def load(path: Path) -> Source:
    """The text of a file, under its name."""
    return Source(str(path), path.read_text(encoding="utf-8"))


def shipped(name: str, _source: Source) -> Source | None:
    """Find a specification that another one extends."""
    try:
        return load(Path(spec_path(name)))
    except KeyError:
        return None


def cases(world: str) -> list[Case]:
    """All cases of a world, by rule and name."""
    pattern = "*/*.plan" if world == "ontology" else f"*/{world}/*.plan"
    return [_read(path, world) for path in sorted(HOME.glob(pattern))]


def _read(path: Path, world: str) -> Case:
    plan = load(path)
    finds: set[Found] = set()
    also: set[str] = set()
    for line in plan.text.splitlines():
        if found := _FINDS.match(line):
            finds.add((found[1], tuple((found[2] or "").split())))
        elif others := _ALSO.match(line):
            also.update(others[1].split())
    rule = path.parent.name if world == "ontology" else path.parent.parent.name
    return Case(rule, world, path.parent, path.stem, plan, frozenset(finds), frozenset(also))


def checker(case: Case, specifications: Iterable[Source], replay: Literal["always", "never"] = "never") -> Checker:
    """A checker for the problem of a case; the kernel takes as long again as everything else."""
    domain = HOME / "ontology.pddl" if case.world == "ontology" else Path(domain_path(case.world))
    problem, options = load(case.folder / "problem.pddl"), Options(replay=replay)
    return Checker(load(domain), problem, list(specifications), options, resolve=shipped)


def library(world: str) -> list[Source]:
    """The library, with the mapping that a world needs."""
    names = ["home"] if world == "ontology" else ["home", f"home-{world}"]
    return [load(Path(spec_path(name))) for name in names]


def found(report: Report, rule: str) -> frozenset[Found]:
    """What a report says of a rule."""
    return frozenset([_place(finding) for finding in report.findings if finding.rule == rule])


def _place(finding: Finding) -> Found:
    return ("the end" if finding.at_end else str(finding.step)), tuple([f"{v}={x}" for v, x in finding.binding])
