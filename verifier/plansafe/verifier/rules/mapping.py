"""Mappings: the replacement of each word of a specification by words of a domain (docs/safety-rules.md).

For example, ``(:types (appliance oven))`` replaces the type ``appliance`` of the rules by the domain's ``oven``, and
``(:predicates ((hot ?x) (on ?x)))`` each ``(hot t)`` by ``(on t)``. A *group* is a name for several types of the domain
that the other entries of the mapping can use. A *kind* is a type of the specification; it is *assignable* if the user
or a mapping may give it to objects (docs/worlds.md, "Objects of no known kind"). A mapping may extend another one: the
two are read as one mapping.
"""

from __future__ import annotations

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import Place, format_token

WordName = tuple[str, str]
"""A name with its name space: ``type``, ``constant``, ``predicate``, ``function`` or ``action``."""


def make_unbound_name(name: str) -> str:
    """Return the name that replaces a word for which the domain has nothing; no domain has such a name."""
    return f"~{name}"


def is_unbound(node: Node) -> bool:
    """Whether a node of an expanded rule was made by :func:`make_unbound_name`."""
    return isinstance(node, str) and node.startswith("~")


def make_kind_type_name(kind: str) -> str:
    """Return the type of objects that are given a kind by name (docs/worlds.md, "Objects of no known kind")."""
    return f"kind--{kind}"


class ObjectKinds(NamedTuple):
    """The kinds that a mapping gives an object; an object without kinds was considered and has none."""

    kinds: tuple[str, ...]
    place: Place


class ProposedKind(NamedTuple):
    """A kind that an object may have, with the evidence for it; it is not confirmed."""

    object: str
    kind: str
    evidence: str
    place: Place


class Replacement(NamedTuple):
    """The parameters and the body of an entry of a mapping or of a macro."""

    parameters: list[str]
    body: Node


class ExcludedRule(NamedTuple):
    """Why a mapping excludes a rule, and where."""

    reason: str
    place: Place


class Mapping(NamedTuple):
    """The replacements of atoms, types, constants and steps, and the place of each entry.

    ``atoms`` has the replacements of predicates and functions, ``steps`` the replacements of actions. ``empty_words``
    are the words for which the domain has nothing. ``groups`` are the names of groups, with their places; replacements
    contain their types instead. ``domain_name_places`` are the places of the names in ``:domain``. ``excluded_rules``
    are the rules in ``:without``. ``kindless_types`` are types that the mapping declares to have no kind.
    ``empty_assignable_types`` has the type :func:`make_kind_type_name` of each assignable kind whose entry declares
    that the domain has nothing for it. ``objects`` are given kinds by name; objects that the problem does not have are
    ignored, because a mapping may serve several problems. ``kinds_from`` is the place of the name in ``:kinds``: the
    kinds of objects are in another text, which must extend this mapping.
    """

    atoms: dict[str, Replacement]
    constants: dict[str, Node]
    types: dict[str, Node]
    steps: dict[str, Replacement]
    entries: dict[WordName, Place]
    empty_words: set[WordName]
    groups: dict[str, Place]
    domain_name_places: list[Place]
    excluded_rules: dict[str, ExcludedRule]
    kindless_types: dict[str, Place]
    empty_assignable_types: set[WordName]
    objects: dict[str, ObjectKinds]
    proposed: list[ProposedKind]
    kinds_from: list[Place]

    def has_nothing_for(self, *names: WordName) -> bool:
        """Whether the mapping declares that the domain has nothing for one of these words."""
        return not self.empty_words.isdisjoint(names)

    def replace_type(self, name: str) -> Node:
        """Return the replacement of a type of the specification, which is unchanged without an entry."""
        return make_unbound_name(name) if ("type", name) in self.empty_words else self.types.get(name, name)

    def find_domain_types(self, name: str) -> tuple[str, ...]:
        """Return the names of the domain's types that replace a type of the specification."""
        replacement = self.replace_type(name)
        return tuple([format_token(n) for n in (replacement[1:] if isinstance(replacement, list) else [replacement])])

    def replace_constant(self, name: str) -> Node:
        """Return the replacement of a constant of the specification; other terms stay unchanged."""
        return make_unbound_name(name) if ("constant", name) in self.empty_words else self.constants.get(name, name)
