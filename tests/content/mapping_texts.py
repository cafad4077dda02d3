"""A plan told in the words of the household ontology: every event of its steps, and what is so at its end."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from plansafe.domains import domain_path
from plansafe.grammar.sexpr import format_node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.specs import spec_path
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.rules.domain_coverage import DomainCoverage, describe_coverage


def shipped(name: str) -> Source:
    return Source(f"{name}.safe", Path(spec_path(name)).read_text(encoding="utf-8"))


def resolve(name: str, beside: Source) -> Source | None:
    try:
        return shipped(name)
    except KeyError:
        return None


def check(world: str, specs: list[Source], things: str = "", facts: str = "") -> Checker:
    domain = Source("domain", Path(domain_path(world)).read_text(encoding="utf-8"))
    problem = f"(define (problem p) (:domain {world}) (:objects {things}) (:init {facts}) (:goal (and)))"
    return Checker(domain, Source("problem", problem), specs, Options(max_findings=1000), resolve)


@cache
def library(world: str) -> Checker:
    """The whole library on a world without objects."""
    return check(world, [shipped("home"), shipped(f"home-{world}")])


@cache
def covered(world: str) -> DomainCoverage:
    checker = library(world)
    return describe_coverage(checker.compiled.symbols, checker.compiled.expanded, checker.rules)


@cache
def _words() -> dict[tuple[str, str], tuple[list[str], str]]:
    """The events (``does``) and facts (``is``) of the ontology: their variables, and the typed list."""
    top = parse_nodes(shipped("home"))
    assert top is not None
    out = {}
    for section in top[0]:
        if isinstance(section, list) and section[0] == ":vocabulary":
            for part in section[1:]:
                assert isinstance(part, list)
                kind = {":predicates": "is", ":actions": "does"}.get(str(part[0]))
                for word in part[1:] if kind else ():
                    assert isinstance(word, list)
                    variables = [str(token) for token in word[1:] if str(token)[0] == "?"]
                    out[str(kind), str(word[0])] = (variables, " ".join([str(token) for token in word[1:]]))
    return out


@cache
def _telling() -> Source:
    """Instead of the library: a rule for each event and each fact of the ontology, which the event or fact violates."""
    top = parse_nodes(shipped("home"))
    assert top is not None
    (vocabulary,) = [
        format_node(section) for section in top[0] if isinstance(section, list) and section[0] == ":vocabulary"
    ]
    rules = []
    for (kind, name), (variables, typed) in _words().items():
        atom = f"({name} {' '.join(variables)})"
        if kind == "does":
            rules.append(f"(:process does-{name} :on {atom} :forbid (and))")
        else:
            rules.append(f"(:termination is-{name} :parameters ({typed}) :forbid {atom})")
    return Source("telling.safe", f"(define (safety home) {vocabulary} {' '.join(rules)})")


def told(world: str, things: str, facts: str, plan: str) -> tuple[list[str], set[str]]:
    """The events of the steps in their order, and the facts at the end; raises if a step cannot be taken."""
    checker = check(world, [_telling(), shipped(f"home-{world}")], things, facts)
    assert checker.ok, checker.diagnostics
    report = checker.check(Source("p.plan", plan))
    assert report.executable.value == "ALL", [finding.message for finding in report.findings]
    events, states = [], set()
    for finding in sorted(report.findings, key=lambda finding: (finding.step, finding.rule or "")):
        kind, _, name = (finding.rule or "").partition("-")
        # What a mapping's formulas quantify over is in the binding, too.
        values = dict(finding.binding)
        said = " ".join([name, *[values[variable] for variable in _words()[kind, name][0] if variable in values]])
        if kind == "does":
            events.append(f"{finding.step} {said}")
        elif kind == "is":
            states.add(said)
    return events, states
