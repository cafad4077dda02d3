"""The result of expansion: plain rules as trees, vocabularies, open predicates, and the mappings that were applied."""

from __future__ import annotations

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import Place
from plansafe.verifier.rules.mapping import Mapping

RULE_KINDS = frozenset((":process", ":trajectory", ":termination", ":obligation"))
FORMULA_FIELDS = frozenset(
    (":when", ":forbid", ":require", ":forbid-after", ":require-after", ":formula", ":then", ":holds")
)
STEP_FIELDS = (":on", ":at-end", ":during")
ATOMS_FIELDS = frozenset((":exactly-one", ":at-most-one"))


def find_step_connective(step: Node) -> str:
    """Return ``or``, ``exists`` or ``when`` for a compound step pattern, an empty string for an action.

    An action can also be named ``or``, ``exists`` or ``when``.
    """
    if not isinstance(step, list) or not any([isinstance(part, list) for part in step]):
        return ""
    return next((word for word in ("or", "exists", "when") if step[0] == word), "")


def list_keyed_children(rule: list[Node]) -> list[tuple[str, Node]]:
    """Return each child of a rule with the token before it, which is the key if the child is a field's value."""
    return [(key if isinstance(key, str) else "", child) for key, child in zip(["", *rule], rule, strict=False)]


class PlainRule(NamedTuple):
    """A rule or an invariant with everything expanded: the tree, and the specification it came from."""

    node: list[Node]
    specification: str
    source: str


class OpenDeclaration(NamedTuple):
    """An open predicate: ``(name ?x - type ..)`` with types mapped, and the atom that ``(name ?x ..)`` is mapped to."""

    typed: list[Node]
    atom: list[Node]
    source: str


class Vocabulary(NamedTuple):
    """A ``:vocabulary`` section: the words that a specification needs of a domain."""

    specification: str
    node: list[Node]


class AppliedMapping(NamedTuple):
    """A mapping, the specification that it names, and all specifications that it serves, including this one."""

    specification: str
    serves: frozenset[str]
    mapping: Mapping
    at: Place


class ExpandedSpecs(NamedTuple):
    """All rules and vocabularies of the given specifications, and the mappings that bind them."""

    rules: list[PlainRule]
    vocabularies: list[Vocabulary]
    mappings: tuple[AppliedMapping, ...] = ()
    openings: tuple[OpenDeclaration, ...] = ()
    invariants: tuple[PlainRule, ...] = ()

    def find_mapping(self, specification: str) -> Mapping | None:
        """Return the mapping that serves a specification."""
        return next((applied.mapping for applied in self.mappings if specification in applied.serves), None)
