"""The structure of a scenario: its rules and the actions of its reference plan, without names.

New names are replaced by their declarations: a new type for its parent in the base, a new predicate for the types of
its parameters. Two scenarios that differ only in names, objects or places have one structure. The converse may fail:
the abstraction forgets which parameter is used where.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import pairwise

from plansafe.domains import domain_path
from plansafe.grammar.sexpr import Node
from plansafe.grammar.source import Source
from plansafe.llm.scenarios.building import shipped_source
from plansafe.llm.scenarios.model import Scenario
from plansafe.llm.scenarios.validation.drafts import Draft
from plansafe.llm.scenarios.validation.survey import entries


def structure_hash(kind: str, base: Source, extension: Source | None, rules: Source, plan: Source) -> str:
    """A hash that is equal for scenarios of one structure."""
    return hashlib.sha256(repr(_Abstraction(base, extension).of(kind, rules, plan)).encode()).hexdigest()[:16]


def structure_of(scenario: Scenario) -> str:
    """The hash of a scenario of a set."""
    plan = scenario.safe or scenario.unsafe
    assert plan is not None
    base = shipped_source(domain_path(scenario.base))
    return structure_hash(scenario.kind.value, base, scenario.extension, scenario.specs[-1], plan)


def rule_key(scenario: Scenario) -> str:
    """A text that is equal for scenarios whose own rules differ in names alone."""
    base = shipped_source(domain_path(scenario.base))
    abstraction = _Abstraction(base, scenario.extension)
    return " ".join(abstraction.conditions(scenario.specs[-1]))


def list_plan_actions(plan: Source) -> list[str]:
    """The action of each step of a plan."""
    return [line.strip("() ").split()[0] for line in plan.text.splitlines() if line.strip("() ")]


def list_new_actions(extension: Source | None) -> list[str]:
    """The names of the actions that an extension of the base domain declares."""
    nodes = [] if extension is None else Draft(extension).sections(":action")
    return [str(node[1]) for node in nodes if len(node) > 1]


class _Abstraction:
    def __init__(self, base: Source, extension: Source | None) -> None:
        drafts = [Draft(base), *([Draft(extension)] if extension is not None else [])]
        self.base_types = _declared_types(drafts[0])
        self.new_types = _declared_types(drafts[1]) if extension is not None else {}
        self.predicates: dict[str, str] = {}
        self.actions: dict[str, str] = {}
        for section in drafts[0].sections(":predicates"):
            self.predicates |= {str(node[0]): str(node[0]) for node in section[1:] if isinstance(node, list)}
        for draft in drafts[1:]:
            for section in draft.sections(":predicates"):
                for node in section[1:]:
                    if isinstance(node, list) and node and isinstance(node[0], str):
                        self.predicates.setdefault(node[0], f"new{sorted(self.parameter_types(node, 1).values())}")
        for node in drafts[0].sections(":action"):
            self.actions[str(node[1])] = str(node[1])
        for draft in drafts[1:]:
            for node in draft.sections(":action"):
                if len(node) > 1 and isinstance(node[1], str):
                    self.actions.setdefault(node[1], self.abstract_action(node))

    def conditions(self, rules: Source) -> list[str]:
        return sorted(
            [self.abstract_rule(form) for form in Draft(rules).form[2:] if isinstance(form, list) and len(form) > 2]
        )

    def of(self, kind: str, rules: Source, plan: Source) -> object:
        names = list_plan_actions(plan)
        return kind, self.conditions(rules), sorted({self.actions.get(name, name) for name in names})

    def base_type(self, name: str) -> str:
        for _ in range(20):
            if name in self.base_types or name not in self.new_types:
                return name
            name = self.new_types[name]
        return name

    def parameter_types(self, node: list[Node], start: int) -> dict[str, str]:
        return {
            entry.name: "/".join(sorted([self.base_type(name) for name in entry.types or ("object",)]))
            for entry in entries(node, start)
        }

    def abstract_action(self, node: list[Node]) -> str:
        scope: dict[str, str] = {}
        out = []
        for part, value in pairwise(node):
            if part == ":parameters" and isinstance(value, list):
                scope = self.parameter_types(value, 0)
                out.append(f"parameters{sorted(scope.values())}")
            elif part in (":precondition", ":effect"):
                out.append(f"{part}{self.formula(value, scope)}")
        return " ".join(out)

    def abstract_rule(self, node: list[Node]) -> str:
        scope: dict[str, str] = {}
        out = [str(node[0])]
        for part, value in pairwise(node):
            if part == ":parameters" and isinstance(value, list):
                scope = self.parameter_types(value, 0)
            elif part == ":on" and isinstance(value, list):
                out.append(f"on {self.actions.get(str(value[0]), str(value[0]))}")
            elif isinstance(part, str) and part.startswith(":") and isinstance(value, list) and part != ":target":
                out.append(f"{part}{self.formula(value, scope)}")
        return " ".join(out)

    def formula(self, node: Node, scope: Mapping[str, str]) -> str:
        if not isinstance(node, list):
            return scope.get(str(node), str(node) if str(node).startswith("?") else "constant")
        if not node:
            return "()"
        head = node[0]
        if not isinstance(head, str):
            return str(sorted([self.formula(part, scope) for part in node]))
        if head in ("exists", "forall") and len(node) == 3 and isinstance(node[1], list):
            inner = {**scope, **self.parameter_types(node[1], 0)}
            return f"({head} {self.formula(node[2], inner)})"
        if head in self.predicates:
            return f"({self.predicates[head]} {' '.join([self.formula(part, scope) for part in node[1:]])})"
        parts = [self.formula(part, scope) for part in node[1:]]
        return f"({head} {' '.join(sorted(parts) if head in ('and', 'or') else parts)})"


def _declared_types(draft: Draft) -> dict[str, str]:
    out: dict[str, str] = {}
    for section in draft.sections(":types"):
        for entry in entries(section, 1):
            out[entry.name] = (entry.types or ("object",))[0]
    return out
