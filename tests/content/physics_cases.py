"""Read and run the cases of the physics of a home (``home-physics.safe``): ``physics/WORLD.txt``.

A case is a paragraph as in ``mappings/WORLD.txt``: a scene, a plan, and under ``then`` all facts that hold at the end,
for the derived words that ``of`` names. The world ``ontology`` is the hazard library itself, without a mapping.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from home_cases import HOME, load, resolve_shipped
from mapping_texts import read_cells

from plansafe.domains import domain_path
from plansafe.domains.objects import add_kinds
from plansafe.grammar.sexpr import Node, format_node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.specs import spec_path
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Report

FOLDER = Path(__file__).resolve().parent / "physics"
PHYSICS = Path(spec_path("home-physics"))
Cells = dict[str, str]


def worlds() -> list[str]:
    """Return the worlds that have cases."""
    return [path.stem for path in sorted(FOLDER.glob("*.txt"))]


@cache
def cases_of_world(world: str) -> tuple[Cells, ...]:
    """Return the cells of each case of a world."""
    text = (FOLDER / f"{world}.txt").read_text(encoding="utf-8")
    return tuple([read_cells(paragraph) for paragraph in text.strip().split("\n\n")])


def read_definitions(physics: Source) -> list[list[Node]]:
    """Return the ``:define`` sections of the physics, in order."""
    top = parse_nodes(physics)
    assert top is not None
    (form,) = top
    return [section for section in form if isinstance(section, list) and section[0] == ":define"]


def check_case(world: str, cells: Cells, physics: Source | None = None, *, replay: bool = False) -> Report:
    """Check the plan of a case against one rule for each word under ``of``, which a true fact of the word violates.

    ``physics`` replaces the shipped specification.
    """
    physics = physics or load(PHYSICS)
    heads = [section[1] for section in read_definitions(physics)]
    signatures = {str(head[0]): format_node(head[1:]) for head in heads if isinstance(head, list)}
    rules = []
    for word in cells["of"].split():
        variables = " ".join([token for token in signatures[word].strip("()").split() if token.startswith("?")])
        rules.append(f"(:termination {word} :parameters {signatures[word]} :forbid ({word} {variables}))")
    top = parse_nodes(load(Path(spec_path("home"))))
    assert top is not None
    vocabulary = next(format_node(part) for part in top[0] if isinstance(part, list) and part[0] == ":vocabulary")
    texts = [Source("home.safe", f"(define (safety home) (:extends home-physics) {vocabulary} {' '.join(rules)})")]
    if world != "ontology":
        texts.append(load(Path(spec_path(f"home-{world}"))))
    domain = load(HOME / "ontology.pddl" if world == "ontology" else Path(domain_path(world)))
    problem = (
        f"(define (problem p) (:domain {world}) (:objects {cells['things']}) (:init {cells['facts']}) (:goal (and)))"
    )

    def resolve(name: str, extending: Source) -> Source | None:
        return physics if name == "home-physics" else resolve_shipped(name, extending)

    options = Options(max_findings=1000, replay="always" if replay else "never")
    problem_source = Source("problem", problem)
    checker = Checker(domain, problem_source, add_kinds(domain, problem_source, texts), options, resolve)
    assert checker.ok, checker.diagnostics
    return checker.check(Source("p.plan", cells["plan"]))


def final_facts(report: Report) -> set[str]:
    """Return the derived facts at the end of a plan."""
    facts = set()
    for finding in report.findings:
        word, values = str(finding.rule), dict(finding.binding)
        variables = re.findall(r"\?\w+", format_node(_definitions()[word][1]))
        facts.add(" ".join([word, *[values[variable] for variable in variables]]))
    return facts


@cache
def _definitions() -> dict[str, list[Node]]:
    sections = read_definitions(load(PHYSICS))
    return {str(section[1][0]): section for section in sections if isinstance(section[1], list)}


def expected_facts(cells: Cells) -> set[str]:
    """Return the facts that a case expects at the end."""
    return {fact.strip() for fact in cells["then"].split(";")} - {""}
