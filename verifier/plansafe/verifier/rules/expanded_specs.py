"""What expansion hands on: plain rules as trees, vocabularies, open predicates, and the mappings that bound them."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import Place
from plansafe.verifier.rules.mapping import Mapping

RULE_KINDS = frozenset((":process", ":trajectory", ":termination", ":obligation"))
FORMULA_FIELDS = frozenset(
    (":when", ":forbid", ":require", ":forbid-after", ":require-after", ":formula", ":then", ":holds")
)
STEP_FIELDS = frozenset((":on", ":at-end", ":during"))
ATOMS_FIELDS = frozenset((":exactly-one", ":at-most-one"))


def step_connective(step: Node) -> str:
    """``or``, ``exists`` or ``when`` if a STEP is made of other ones; empty for an action, also one of such a name."""
    if not isinstance(step, list) or not any([isinstance(part, list) for part in step]):
        return ""
    return next((word for word in ("or", "exists", "when") if step[0] == word), "")


class PlainRule(NamedTuple):
    """A rule or an invariant with everything expanded: the tree, and the specification it came from."""

    node: list[Node]
    specification: str
    source: str


class OpenDeclaration(NamedTuple):
    """An open predicate: ``(name ?x - type ..)`` with types mapped, and the atom that ``(name ?x ..)`` stands for."""

    typed: list[Node]
    atom: list[Node]
    source: str


class Vocabulary(NamedTuple):
    """A ``:vocabulary`` section: what a specification needs of a domain."""

    specification: str
    node: list[Node]


class AppliedMapping(NamedTuple):
    """A mapping at work: the specification that it names, and all that it serves, this one among them."""

    specification: str
    serves: frozenset[str]
    mapping: Mapping
    at: Place


class ExpandedSpecs(NamedTuple):
    """All rules and vocabularies of the specifications given, and the mappings that bind them."""

    rules: list[PlainRule]
    vocabularies: list[Vocabulary]
    bindings: tuple[AppliedMapping, ...] = ()
    openings: tuple[OpenDeclaration, ...] = ()
    invariants: tuple[PlainRule, ...] = ()

    def mapping(self, specification: str) -> Mapping | None:
        """The mapping that serves a specification."""
        for binding in self.bindings:
            if specification in binding.serves:
                return binding.mapping
        return None
