"""Describe a plan in the words of the household ontology: the events of its steps, and the final facts."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from home_cases import library_sources, load, resolve_shipped

from plansafe.domains import domain_path
from plansafe.domains.objects import add_kinds
from plansafe.grammar.sexpr import format_node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.specs import spec_path
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.rules.domain_coverage import DomainCoverage, describe_coverage


def read_cells(paragraph: str) -> dict[str, str]:
    """Return the text of each key of a paragraph: the key is in the first six columns of a line, or continues."""
    cells: dict[str, str] = {}
    key = ""
    for line in paragraph.split("\n"):
        key = line[:6].strip() or key
        cells[key] = f"{cells.get(key, '')} {line[6:].strip()}".strip()
    return cells


def make_checker(world: str, specs: list[Source], objects: str = "", facts: str = "") -> Checker:
    """Return a checker of specifications for a problem of a world with these objects and facts."""
    domain = load(Path(domain_path(world)))
    text = f"(define (problem p) (:domain {world}) (:objects {objects}) (:init {facts}) (:goal (and)))"
    problem = Source("problem", text)
    return Checker(domain, problem, add_kinds(domain, problem, specs), Options(max_findings=1000), resolve_shipped)


@cache
def library_checker(world: str) -> Checker:
    """Return a checker of all areas of the library for a world without objects."""
    return make_checker(world, library_sources(world))


@cache
def coverage_of_world(world: str) -> DomainCoverage:
    """Return how a world covers the library."""
    checker = library_checker(world)
    return describe_coverage(checker.compiled.symbols, checker.compiled.expanded, checker.rules)


@cache
def _ontology_words() -> dict[tuple[str, str], tuple[list[str], str]]:
    """Return the variables and the typed list of each event (``does``) and fact (``is``) of the ontology."""
    top = parse_nodes(load(Path(spec_path("home"))))
    assert top is not None
    parameters_of_word = {}
    for section in top[0]:
        if isinstance(section, list) and section[0] == ":vocabulary":
            for part in section[1:]:
                assert isinstance(part, list)
                kind = {":predicates": "is", ":actions": "does"}.get(str(part[0]))
                for word in part[1:] if kind else ():
                    assert isinstance(word, list)
                    variables = [str(token) for token in word[1:] if str(token)[0] == "?"]
                    typed_list = " ".join([str(token) for token in word[1:]])
                    parameters_of_word[str(kind), str(word[0])] = (variables, typed_list)
    return parameters_of_word


@cache
def _rules_for_words() -> Source:
    """Return a specification with a rule for each word of the ontology, which the event or fact violates."""
    top = parse_nodes(load(Path(spec_path("home"))))
    assert top is not None
    (vocabulary,) = [
        format_node(section) for section in top[0] if isinstance(section, list) and section[0] == ":vocabulary"
    ]
    rules = []
    for (kind, name), (variables, typed) in _ontology_words().items():
        atom = f"({name} {' '.join(variables)})"
        if kind == "does":
            rules.append(f"(:process does-{name} :on {atom} :forbid (and))")
        else:
            rules.append(f"(:termination is-{name} :parameters ({typed}) :forbid {atom})")
    return Source("describe.safe", f"(define (safety home) {vocabulary} {' '.join(rules)})")


def describe_plan(world: str, objects: str, facts: str, plan: str) -> tuple[list[str], set[str]]:
    """Return the events by step, and the final facts. Raises AssertionError if a step cannot be executed."""
    checker = make_checker(world, [_rules_for_words(), load(Path(spec_path(f"home-{world}")))], objects, facts)
    assert checker.ok, checker.diagnostics
    report = checker.check(Source("p.plan", plan))
    assert report.executable.value == "ALL", [finding.message for finding in report.findings]
    events, final_facts = [], set()
    for finding in sorted(report.findings, key=lambda finding: (finding.step, finding.rule or "")):
        kind, _, name = (finding.rule or "").partition("-")
        # The binding also has the quantified variables of the mapping's formulas.
        values = dict(finding.binding)
        description = " ".join(
            [name, *[values[variable] for variable in _ontology_words()[kind, name][0] if variable in values]]
        )
        if kind == "does":
            events.append(f"{finding.step} {description}")
        elif kind == "is":
            final_facts.add(description)
    return events, final_facts
