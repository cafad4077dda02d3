"""Taxonomies of hazards: which rules stand for which category of a publication, and what is not covered and why.

A rule says which hazard it is about and whom that harms; a category of a taxonomy names hazards, targets, or rules. The
table is a replaceable TOML file (``taxonomies.toml``; format: docs/safety-rules.md). Categories of a rule are computed,
so that a new rule needs no entry.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, suggest_name
from plansafe.grammar.source import Source
from plansafe.specs.toml_text import key_span, read_toml

SHIPPED_TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "taxonomies.toml")
TARGETS = ("human", "animal", "robot", "property", "environment")
_CATEGORY = ("title", "targets", "hazards", "rules", "reason", "worlds")
_TAXONOMY = ("title", "categories", "left-out", "worlds")


class RuleLike(Protocol):
    """What is asked of a rule; the rules of a checker are such (``plansafe.verifier.rules.model.Rule``)."""

    @property
    def name(self) -> str:
        """The name of the rule."""

    @property
    def hazard(self) -> str | None:
        """The hazard that the rule names (``:hazard``)."""

    @property
    def targets(self) -> tuple[str, ...]:
        """Whom the rule protects (``:target``)."""


@dataclass(frozen=True, slots=True)
class Category:
    """A category: its hazards, whom they harm (nobody named: anybody), and rules that belong to it by name.

    ``reason`` says why it has no rule, ``worlds`` why none of its rules applies in a world.
    """

    name: str
    title: str
    targets: frozenset[str] = frozenset()
    hazards: frozenset[str] = frozenset()
    rules: frozenset[str] = frozenset()
    reason: str | None = None
    worlds: Mapping[str, str] = field(default_factory=dict)

    def holds(self, rule: RuleLike) -> bool:
        """Whether a rule belongs here."""
        if rule.name in self.rules or rule.hazard == self.name:
            return True
        return rule.hazard in self.hazards and (not self.targets or not self.targets.isdisjoint(rule.targets))


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """A taxonomy: its categories in order, and hazards that it has no category for, each with the reason.

    ``worlds`` says why any category may have no rule in a world, unless the category itself says so.
    """

    name: str
    title: str
    categories: tuple[Category, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    worlds: Mapping[str, str] = field(default_factory=dict)

    def categories_of(self, rule: RuleLike) -> tuple[Category, ...]:
        """The categories that a rule belongs to, in order."""
        return tuple([category for category in self.categories if category.holds(rule)])

    @property
    def hazards(self) -> frozenset[str]:
        """The hazards that it says something about."""
        named = [category.hazards | {category.name} for category in self.categories]
        return frozenset(self.left_out).union(*named)


@dataclass(frozen=True, slots=True)
class Taxonomies:
    """The taxonomies of a table; ``diagnostics`` (SC775) say what is wrong with it."""

    table: Source
    taxonomies: tuple[Taxonomy, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    def __getitem__(self, name: str) -> Taxonomy:
        """The taxonomy of this name; raises ``KeyError`` if there is none."""
        for taxonomy in self.taxonomies:
            if taxonomy.name == name:
                return taxonomy
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class CategoryCoverage:
    """A category with the names of its rules; ``reason`` says why there is none, if that is known."""

    category: Category
    rules: tuple[str, ...]
    reason: str | None


def load_taxonomies(path: str | None = None) -> Taxonomies:
    """Read the shipped table, or the one at ``path``. Linear in its size.

    Raises ``OSError`` and ``UnicodeDecodeError`` for a file that cannot be read; what is wrong inside it is a
    diagnostic.
    """
    return _shipped() if path is None else _read(path)


@cache
def _shipped() -> Taxonomies:
    """Read once: scenarios ask for it again and again."""
    return _read(SHIPPED_TABLE)


def _read(path: str) -> Taxonomies:
    with open(path, encoding="utf-8") as file:
        return read_taxonomies(Source(path, file.read()))


def read_taxonomies(table: Source) -> Taxonomies:
    """The taxonomies that a text describes."""
    reader = _Reader(table)
    taxonomies = reader.read()
    return Taxonomies(table, taxonomies, tuple(reader.diagnostics))


def category_coverage(
    taxonomy: Taxonomy, rules: Iterable[RuleLike], world: str | None = None
) -> tuple[CategoryCoverage, ...]:
    """Which of the rules stand for which category; give those that apply in a world to see what that world covers."""
    rules = list(rules)
    out = []
    for category in taxonomy.categories:
        names = tuple([rule.name for rule in rules if category.holds(rule)])
        general = taxonomy.worlds.get(world or "", category.reason)
        reason = None if names else category.worlds.get(world or "", general)
        out.append(CategoryCoverage(category, names, reason))
    return tuple(out)


def check_taxonomies(taxonomies: Taxonomies, rules: Iterable[RuleLike]) -> tuple[Diagnostic, ...]:
    """Whether a table fits a library: words that neither of them knows (SC775), and gaps without a reason (SC777)."""
    rules = list(rules)
    reader = _Reader(taxonomies.table)
    names = {rule.name for rule in rules}
    known = {rule.hazard for rule in rules if rule.hazard is not None}
    for taxonomy in taxonomies.taxonomies:
        for category in taxonomy.categories:
            at = (taxonomy.name, "categories", category.name)
            for rule in sorted(category.rules - names):
                reader.bad(f"no rule is named `{rule}`", (*at, "rules"), suggest_name(rule, sorted(names)))
            for hazard in sorted(category.hazards - known):
                if not (category.reason or category.worlds):
                    help = suggest_name(hazard, sorted(known))
                    reader.bad(f"no rule has the hazard `{hazard}`", (*at, "hazards"), help)
            if not category.reason and not any([category.holds(rule) for rule in rules]):
                reader.bad(f"`{category.name}` has neither a rule nor a `reason`", at, code=SC.TAXONOMY_GAP)
        for hazard in sorted(set(taxonomy.left_out) - known):
            key_span, help = (taxonomy.name, "left-out", hazard), suggest_name(hazard, sorted(known))
            reader.bad(f"no rule has the hazard `{hazard}`", key_span, help)
        for hazard in sorted(known - taxonomy.hazards):
            said = ", ".join(sorted([f"`{rule.name}`" for rule in rules if rule.hazard == hazard])[:3])
            message = f"`{taxonomy.name}` says nothing of the hazard `{hazard}`, which {said} name"
            reader.bad(
                message, (taxonomy.name,), "add it to a category, or to `left-out` with the reason", SC.TAXONOMY_GAP
            )
    return tuple(reader.diagnostics)


class _Reader:
    def __init__(self, table: Source) -> None:
        self.table = table
        self.diagnostics: list[Diagnostic] = []

    def bad(self, message: str, at: tuple[str, ...], help: str | None = None, code: str = SC.BAD_TAXONOMY) -> None:
        """Report a mistake in the value that the keys ``at`` lead to; a gap is a warning."""
        severity = Severity.WARNING if code == SC.TAXONOMY_GAP else Severity.ERROR
        label = Label(self.table.name, key_span(self.table, at), f"in `{'.'.join(at)}`")
        self.diagnostics.append(Diagnostic(code, message, (label,), help=help, severity=severity))

    def read(self) -> tuple[Taxonomy, ...]:
        data = read_toml(self.table, SC.BAD_TAXONOMY)
        if isinstance(data, Diagnostic):
            self.diagnostics.append(data)
            return ()
        return tuple([self._taxonomy(name, value) for name, value in data.items()])

    def _taxonomy(self, name: str, value: Any) -> Taxonomy:
        at = (name,)
        entries = self._table(value, at, _TAXONOMY)
        categories = self._table(entries.get("categories", {}), (*at, "categories"))
        if not categories:
            self.bad(f"`{name}` has no categories", at, f"write `[{name}.categories.NAME]`")
        left_out = self._texts_by_name(entries.get("left-out", {}), (*at, "left-out"))
        worlds = self._texts_by_name(entries.get("worlds", {}), (*at, "worlds"))
        made = tuple([self._category(key, entry, (*at, "categories", key)) for key, entry in categories.items()])
        return Taxonomy(name, self._text(entries, "title", at) or name, made, left_out, worlds)

    def _category(self, name: str, value: Any, at: tuple[str, ...]) -> Category:
        entries = self._table(value, at, _CATEGORY)
        targets = self._names(entries, "targets", at)
        for target in sorted(targets - set(TARGETS)):
            self.bad(f"unknown target of harm {target!a}", (*at, "targets"), f"one of {', '.join(TARGETS)}")
        hazards, rules = self._names(entries, "hazards", at), self._names(entries, "rules", at)
        reason = self._text(entries, "reason", at)
        worlds = self._texts_by_name(entries.get("worlds", {}), (*at, "worlds"))
        return Category(name, self._text(entries, "title", at) or name, targets, hazards, rules, reason, worlds)

    def _table(self, value: Any, at: tuple[str, ...], known: tuple[str, ...] | None = None) -> dict[str, Any]:
        if not isinstance(value, dict):
            self.bad(f"`{at[-1]}` must be a table", at, f"write `[{'.'.join(at)}]` and its entries below it")
            return {}
        for key in value if known is not None else ():
            if key not in (known or ()):
                self.bad(f"unknown key {key!a}", (*at, key), f"one of {', '.join(known or ())}")
        return value

    def _text(self, entries: dict[str, Any], key: str, at: tuple[str, ...]) -> str | None:
        value = entries.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            self.bad(f"`{key}` must be a text", (*at, key))
            return None
        return value

    def _names(self, entries: dict[str, Any], key: str, at: tuple[str, ...]) -> frozenset[str]:
        value = entries.get(key, [])
        if not isinstance(value, list) or not all([isinstance(name, str) for name in value]):
            self.bad(f"`{key}` must be a list of names", (*at, key), f'write `{key} = ["..", ..]`')
            return frozenset()
        return frozenset(value)

    def _texts_by_name(self, value: Any, at: tuple[str, ...]) -> dict[str, str]:
        entries = self._table(value, at)
        found = {key: self._text(entries, key, at) for key in entries}
        return {key: text for key, text in found.items() if text is not None}
