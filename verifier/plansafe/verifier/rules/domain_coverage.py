"""Describe how a domain covers a specification: bound words, applicable rules, and types and objects without a kind.

``safecheck worlds show`` prints it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from plansafe.grammar.sexpr import format_node
from plansafe.verifier.elaborate.symbols import Symbols
from plansafe.verifier.rules.expanded_specs import ExpandedSpecs
from plansafe.verifier.rules.kinds import EVERYTHING
from plansafe.verifier.rules.mapping import Mapping, WordName, make_kind_type_name
from plansafe.verifier.rules.model import Rule
from plansafe.verifier.rules.vocabulary import find_declared_words, list_domain_names

WordSource = Literal["mapped", "own", "unbound"]
MAPPED: Literal["mapped"] = "mapped"
"""A mapping binds the word."""
OWN: Literal["own"] = "own"
"""The domain has the word itself, and no mapping binds it."""
UNBOUND: Literal["unbound"] = "unbound"
"""The domain has nothing for the word."""


class WordMeaning(NamedTuple):
    """The meaning of a word of a vocabulary in a domain. ``replacement``: the text in the mapping if it is mapped."""

    kind: str
    name: str
    source: WordSource
    replacement: str = ""


class InapplicableRule(NamedTuple):
    """A rule that is not checked, with ``missing_names`` and ``exclusion_reason`` of :class:`Rule`."""

    rule: str
    missing_names: tuple[WordName, ...]
    exclusion_reason: str | None = None


class DomainCoverage(NamedTuple):
    """The words, rules, types and objects of a task that its specifications cover.

    ``kinds`` maps each leaf type of the domain to its kinds (types of the vocabulary), without the kinds of everything.
    ``unseen_types`` are the leaf types without a kind, ``unseen_objects`` the objects of the problem without a kind:
    only rules about every object apply to them.
    """

    words: tuple[WordMeaning, ...]
    applicable: tuple[str, ...]
    not_applicable: tuple[InapplicableRule, ...]
    kinds: dict[str, tuple[str, ...]]
    unseen_types: tuple[str, ...]
    unseen_objects: tuple[str, ...]

    def list_words(self, source: WordSource) -> tuple[WordMeaning, ...]:
        """Return the words with this source."""
        return tuple([word for word in self.words if word.source == source])


def describe_coverage(symbols: Symbols, expanded: ExpandedSpecs, rules: Sequence[Rule]) -> DomainCoverage:
    """Describe what the specifications of a compiled task cover of its domain and its objects.

    Call it as ``describe_coverage(compiled.symbols, compiled.expanded, compiled.rules)``.
    """
    types = symbols.types
    words = []
    types_of_kind: dict[str, set[int]] = {}
    for vocabulary in expanded.vocabularies:
        mapping = expanded.find_mapping(vocabulary.specification)
        for kind, name in find_declared_words(symbols.context, [vocabulary]):
            words.append(_find_meaning(symbols, mapping, kind, name))
            if kind == "type" and name not in EVERYTHING:
                names = (name,) if mapping is None else mapping.find_domain_types(name)
                types_of_kind.setdefault(name, set()).update([types.index[n] for n in names if n in types.index])
    parents = {parent for parents_of_type in types.parents for parent in parents_of_type}
    kinds = {
        name: tuple(
            [kind for kind, numbers in types_of_kind.items() if not numbers.isdisjoint(types.ancestors[number])]
        )
        for number, name in enumerate(types.names)
        if number and number not in parents and not name.startswith(make_kind_type_name(""))
    }
    types_with_kind = set().union(*types_of_kind.values())
    typed_objects = zip(symbols.objects, symbols.object_types, strict=True)
    return DomainCoverage(
        tuple(dict.fromkeys(words)),
        tuple([rule.name for rule in rules if rule.applicable]),
        tuple([InapplicableRule(r.name, r.missing_names, r.exclusion_reason) for r in rules if not r.applicable]),
        kinds,
        tuple([name for name, kinds_of_type in kinds.items() if not kinds_of_type]),
        tuple(
            [
                name
                for name, object_types in typed_objects
                if all([types_with_kind.isdisjoint(types.ancestors[t]) for t in object_types])
            ]
        ),
    )


def _find_meaning(symbols: Symbols, mapping: Mapping | None, kind: str, name: str) -> WordMeaning:
    """Return the meaning of a word: its entry in the mapping, the domain's word of this name, or nothing."""
    entry = mapping.entries.get((kind, name)) if mapping is not None else None
    if entry is None:
        return WordMeaning(kind, name, OWN if name in list_domain_names(symbols)[kind] else UNBOUND)
    if len(entry.node) == 1:
        return WordMeaning(kind, name, UNBOUND)
    return WordMeaning(kind, name, MAPPED, format_node(entry.node[1]))
