"""Read the cases of the household hazard library: ``home/RULE.md``, a case file (``tests/case_files.py``).

Groups named ``ontology`` have a problem in the world of the ontology itself (``home/ontology.pddl``), without a
mapping, and plans that break (``breaks*``) and keep (``keeps*``) the rule. Groups named ``household`` have a problem
and plans in the shipped household world, to which the rule applies through the mapping. The lines of a case are its
expectations:

    finds at 2: ?x=oven         the rule of the file is violated at step 2, with these objects
    finds at the end            .. in the final state
    also OTHER-RULE ..          the plan also violates these rules

The plan must have no findings except the listed ones.
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
from plansafe.domains.objects import add_kinds
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

PlaceAndBinding = tuple[str, tuple[str, ...]]
"""The place of a finding (a step number, or ``the end``), and the objects as ``?x=name``."""


class Case(NamedTuple):
    """A plan with the expected findings of the rule that its file is named after."""

    rule: str
    world: str  # "ontology" or "household"
    name: str
    problem: Source
    plan: Source
    finds: frozenset[PlaceAndBinding]
    also: frozenset[str]

    @property
    def breaks(self) -> bool:
        """Return whether the plan is meant to break the rule."""
        return self.name.startswith("breaks")


_FINDS = re.compile(r"finds at (the end|\d+)(?:: (.*))?$")
_ALSO = re.compile(r"also (.*)$")


def load(path: Path) -> Source:
    """Return a file as a source under its path."""
    return Source(str(path), path.read_text(encoding="utf-8"))


def resolve_shipped(name: str, _extending: Source) -> Source | None:
    """Return the shipped specification that another one extends, or None if there is none."""
    try:
        return load(Path(spec_path(name)))
    except KeyError:
        return None


@cache
def cases_of_world(world: str) -> tuple[Case, ...]:
    """Return all cases of a world, sorted by rule and name."""
    return tuple(
        [case for path in sorted(HOME.glob("*.md"), key=lambda path: path.stem) for case in _read(path, world)]
    )


def _read(path: Path, world: str) -> list[Case]:
    cases = []
    for case in read_cases(path):
        if case.group != world:
            if case.group not in WORLDS:
                raise ValueError(f"{path}: {case.group} is not one of the worlds {WORLDS}")
            continue
        finds: set[PlaceAndBinding] = set()
        also: set[str] = set()
        for line in case.lines:
            if finding := _FINDS.match(line):
                finds.add((finding[1], tuple((finding[2] or "").split())))
            elif other_rules := _ALSO.match(line):
                also.update(other_rules[1].split())
            else:
                raise ValueError(f"{path}: the line {line!r} of {case.name} is not an expectation")
        problem, plan = case.source("problem.pddl"), case.source("plan", f"{case.name}.plan")
        cases.append(Case(path.stem, world, case.name, problem, plan, frozenset(finds), frozenset(also)))
    return sorted(cases, key=lambda case: f"{case.name}.plan")


def make_checker(case: Case, specifications: Iterable[Source], replay: Literal["always", "never"] = "never") -> Checker:
    """Return a checker for the problem of a case. Replay by the kernel doubles the time, so it is off by default."""
    domain = HOME / "ontology.pddl" if case.world == "ontology" else Path(domain_path(case.world))
    return make_task_checker(load(domain), case.problem, specifications, Options(replay=replay))


def make_task_checker(domain: Source, problem: Source, specifications: Iterable[Source], options: Options) -> Checker:
    """Return a checker of shipped specifications, with the kinds of the problem's objects."""
    with_kinds = add_kinds(domain, problem, list(specifications))
    return Checker(domain, problem, with_kinds, options, resolve=resolve_shipped)


def make_checkers(
    cases: Iterable[Case], specifications: Iterable[Source], replay: Literal["always", "never"] = "never"
) -> dict[str, Checker]:
    """Return a checker for each problem of the cases, by the text of the problem."""
    sources = list(specifications)
    first_cases = {case.problem.text: case for case in cases}
    return {text: make_checker(case, sources, replay) for text, case in first_cases.items()}


def library_sources(world: str) -> list[Source]:
    """Return the sources of the library and of the mapping for a world; the ontology needs no mapping."""
    names = ["home"] if world == "ontology" else ["home", f"home-{world}"]
    return [load(Path(spec_path(name))) for name in names]


def ontology_checker() -> Checker:
    """Return a checker of the library in the world of its ontology."""
    return make_checker(cases_of_world("ontology")[0], library_sources("ontology"))


def findings_of_rule(report: Report, rule: str) -> frozenset[PlaceAndBinding]:
    """Return place and binding of each finding of a rule."""
    return frozenset([_place(finding) for finding in report.findings if finding.rule == rule])


def _place(finding: Finding) -> PlaceAndBinding:
    binding = tuple([f"{variable}={name}" for variable, name in finding.binding])
    return ("the end" if finding.at_end else str(finding.step)), binding
