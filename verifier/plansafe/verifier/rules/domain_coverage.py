"""What a domain gives a specification: which of its words are bound, which rules apply, and what no rule can see.

Data alone; ``safecheck worlds show`` prints it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from plansafe.grammar.sexpr import format_node
from plansafe.verifier.elaborate.symbols import Symbols
from plansafe.verifier.rules.expanded_specs import AppliedMapping, ExpandedSpecs
from plansafe.verifier.rules.kinds import EVERYTHING
from plansafe.verifier.rules.mapping import WordName
from plansafe.verifier.rules.mapping_check import words_of
from plansafe.verifier.rules.model import Rule

MAPPED, OWN, UNBOUND = "mapped", "own", "unbound"


class WordMeaning(NamedTuple):
    """A word of a vocabulary and how it gets its meaning.

    ``how`` is ``mapped`` (``meaning`` is the text in the mapping), ``own`` (the domain has a word of this name and no
    mapping says otherwise), or ``unbound``.
    """

    kind: str
    name: str
    how: str
    meaning: str = ""


class InapplicableRule(NamedTuple):
    """A rule that is not checked, and the words that it lacks."""

    rule: str
    missing_names: tuple[WordName, ...]


class DomainCoverage(NamedTuple):
    """What specifications see of a domain and of a scene.

    ``kinds`` gives for each type of the domain that has no types below it the kinds (types of the vocabulary) that it
    belongs to, without those that stand for everything; ``unseen_types`` are those with none, and ``unseen_objects``
    the objects of the problem that are of no kind: only rules about everything can speak of them.
    """

    words: tuple[WordMeaning, ...]
    applicable: tuple[str, ...]
    not_applicable: tuple[InapplicableRule, ...]
    kinds: dict[str, tuple[str, ...]]
    unseen_types: tuple[str, ...]
    unseen_objects: tuple[str, ...]

    def of(self, how: str) -> tuple[WordMeaning, ...]:
        """The words that get their meaning in this way."""
        return tuple([word for word in self.words if word.how == how])


def describe_coverage(
    symbols: Symbols, expanded: ExpandedSpecs, rules: Sequence[Rule], everything: frozenset[str] = EVERYTHING
) -> DomainCoverage:
    """Say what the specifications of a check see of its domain and its objects.

    Of a compiled task: ``describe_coverage(task.symbols, task.expanded, task.rules)``. ``everything`` names the kinds
    that say nothing about what belongs to them. The work is linear in the sizes of the vocabularies, mappings and the
    problem.
    """
    words = []
    below: dict[str, set[int]] = {}
    for vocabulary in expanded.vocabularies:
        binding = _binding(expanded, vocabulary.specification)
        for kind, name in words_of(symbols.context, [vocabulary]):
            word = _bound(symbols, binding, kind, name)
            words.append(word)
            if kind == "type" and name not in everything:
                below.setdefault(name, set()).update(_types(symbols, binding, name))
    types = symbols.types
    parents = {parent for found in types.parents for parent in found}
    kinds: dict[str, tuple[str, ...]] = {}
    for number, name in enumerate(types.names):
        if number and number not in parents:
            kinds[name] = tuple(
                [kind for kind, wanted in below.items() if not wanted.isdisjoint(types.ancestors[number])]
            )
    covered = set().union(*below.values())
    unseen = []
    for name, own in zip(symbols.objects, symbols.object_types, strict=True):
        if all([covered.isdisjoint(types.ancestors[t]) for t in own]):
            unseen.append(name)
    return DomainCoverage(
        tuple(dict.fromkeys(words)),
        tuple([rule.name for rule in rules if rule.applicable]),
        tuple([InapplicableRule(rule.name, rule.missing_names) for rule in rules if not rule.applicable]),
        kinds,
        tuple([name for name, found in kinds.items() if not found]),
        tuple(unseen),
    )


def _binding(expanded: ExpandedSpecs, specification: str) -> AppliedMapping | None:
    for binding in expanded.bindings:
        if specification in binding.serves:
            return binding
    return None


def _bound(symbols: Symbols, binding: AppliedMapping | None, kind: str, name: str) -> WordMeaning:
    entry = binding.mapping.entries.get((kind, name)) if binding is not None else None
    if entry is not None:
        unbound = len(entry.node) == 1
        return (
            WordMeaning(kind, name, UNBOUND) if unbound else WordMeaning(kind, name, MAPPED, format_node(entry.node[1]))
        )
    known: dict[str, Collection[str]] = {
        "type": symbols.types.index,
        "constant": symbols.object_index,
        "predicate": symbols.predicate_index,
        "function": symbols.function_index,
        "action": symbols.actions,
    }
    return WordMeaning(kind, name, OWN if name in known[kind] else UNBOUND)


def _types(symbols: Symbols, binding: AppliedMapping | None, kind: str) -> set[int]:
    """The domain's types that a kind stands for; those below them belong to it, too."""
    meaning = binding.mapping.types.get(kind, kind) if binding is not None else kind
    if binding is not None and ("type", kind) in binding.mapping.nothing:
        return set()
    names = meaning[1:] if isinstance(meaning, list) else [meaning]
    index = symbols.types.index
    return {index[name] for name in names if isinstance(name, str) and name in index}
