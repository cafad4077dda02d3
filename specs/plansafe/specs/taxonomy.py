"""Taxonomies of hazards: which rules belong to which category of a publication, and why a category has no rule.

A rule names its hazard and its targets; a category of a taxonomy names hazards, targets, or rules. The table is a
replaceable TOML file (``taxonomies.toml``; format: docs/safety-rules.md). The categories of a rule are computed, so a
new rule needs no entry.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity, suggest_name
from plansafe.grammar.source import Source
from plansafe.specs.toml_text import Keys, TableReader

SHIPPED_TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "taxonomies.toml")
TARGETS = ("human", "animal", "robot", "property", "environment")
_CATEGORY_KEYS = ("title", "targets", "hazards", "rules", "reason", "worlds")
_TAXONOMY_KEYS = ("title", "categories", "left-out", "worlds")


class RuleLike(Protocol):
    """The attributes of a rule that are used here, as in :class:`~plansafe.verifier.rules.model.Rule`."""

    @property
    def name(self) -> str:
        """The name of the rule."""

    @property
    def hazard(self) -> str | None:
        """The hazard that the rule names (``:hazard``)."""

    @property
    def targets(self) -> tuple[str, ...]:
        """The targets that the rule protects (``:target``)."""


@dataclass(frozen=True, slots=True)
class Category:
    """A category: its hazards, their targets (empty: any), and rules that belong to it by name.

    ``reason`` says why it has no rule, ``worlds`` why none of its rules applies in a home world.
    """

    name: str
    title: str
    targets: frozenset[str] = frozenset()
    hazards: frozenset[str] = frozenset()
    rules: frozenset[str] = frozenset()
    reason: str | None = None
    worlds: Mapping[str, str] = field(default_factory=dict)

    def contains(self, rule: RuleLike) -> bool:
        """Whether a rule belongs to the category."""
        if rule.name in self.rules or rule.hazard == self.name:
            return True
        return rule.hazard in self.hazards and (not self.targets or not self.targets.isdisjoint(rule.targets))


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """A taxonomy: its categories in order, and hazards without a category, each with the reason.

    ``worlds`` says why a category may have no rule in a home world, unless the category itself says so.
    """

    name: str
    title: str
    categories: tuple[Category, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    worlds: Mapping[str, str] = field(default_factory=dict)

    def find_categories(self, rule: RuleLike) -> tuple[Category, ...]:
        """The categories that a rule belongs to, in order."""
        return tuple([category for category in self.categories if category.contains(rule)])

    @property
    def hazards(self) -> frozenset[str]:
        """The hazards that it mentions."""
        hazards_by_category = [category.hazards | {category.name} for category in self.categories]
        return frozenset(self.left_out).union(*hazards_by_category)


@dataclass(frozen=True, slots=True)
class Taxonomies:
    """The taxonomies of a table, and its mistakes (``diagnostics``, SC775)."""

    table: Source
    taxonomies: tuple[Taxonomy, ...]
    diagnostics: tuple[Diagnostic, ...] = ()

    def __getitem__(self, name: str) -> Taxonomy:
        """The taxonomy of this name. Raises ``KeyError``."""
        for taxonomy in self.taxonomies:
            if taxonomy.name == name:
                return taxonomy
        raise KeyError(name)


@dataclass(frozen=True, slots=True)
class CategoryCoverage:
    """A category with the names of its rules; ``reason`` says why it has none, if that is known."""

    category: Category
    rules: tuple[str, ...]
    reason: str | None


def load_taxonomies(path: str | None = None) -> Taxonomies:
    """Read the shipped table, or the one at ``path``. Linear in its size.

    Raises ``OSError`` and ``UnicodeDecodeError`` for a file that cannot be read; mistakes inside it are diagnostics.
    """
    return _load_shipped() if path is None else _read_file(path)


@cache
def _load_shipped() -> Taxonomies:
    """Read the table once: scenarios load it many times."""
    return _read_file(SHIPPED_TABLE)


def _read_file(path: str) -> Taxonomies:
    with open(path, encoding="utf-8") as file:
        return read_taxonomies(Source(path, file.read()))


def read_taxonomies(table: Source) -> Taxonomies:
    """Read the taxonomies of a table."""
    reader = _TaxonomyReader(table)
    taxonomies = reader.read()
    return Taxonomies(table, taxonomies, tuple(reader.diagnostics))


def find_category_coverage(
    taxonomy: Taxonomy, rules: Iterable[RuleLike], world: str | None = None
) -> tuple[CategoryCoverage, ...]:
    """Find the rules of each category; for one world, pass the rules that are applicable there."""
    rules = list(rules)
    coverage = []
    for category in taxonomy.categories:
        names = tuple([rule.name for rule in rules if category.contains(rule)])
        general_reason = taxonomy.worlds.get(world or "", category.reason)
        reason = None if names else category.worlds.get(world or "", general_reason)
        coverage.append(CategoryCoverage(category, names, reason))
    return tuple(coverage)


def check_taxonomies(taxonomies: Taxonomies, rules: Iterable[RuleLike]) -> tuple[Diagnostic, ...]:
    """Compare a table with a library: unknown words (SC775), and gaps without a reason (SC777)."""
    rules = list(rules)
    reader = _TaxonomyReader(taxonomies.table)
    rule_names = {rule.name for rule in rules}
    hazards = {rule.hazard for rule in rules if rule.hazard is not None}
    for taxonomy in taxonomies.taxonomies:
        for category in taxonomy.categories:
            keys = (taxonomy.name, "categories", category.name)
            for rule_name in sorted(category.rules - rule_names):
                help = suggest_name(rule_name, sorted(rule_names))
                reader.report(f"no rule is named `{rule_name}`", (*keys, "rules"), help)
            if not (category.reason or category.worlds):
                reader.report_unknown_hazards(category.hazards, hazards, (*keys, "hazards"))
            if not category.reason and not any([category.contains(rule) for rule in rules]):
                reader.report_gap(f"`{category.name}` has neither a rule nor a `reason`", keys)
        for hazard in sorted(taxonomy.left_out):
            reader.report_unknown_hazards([hazard], hazards, (taxonomy.name, "left-out", hazard))
        for hazard in sorted(hazards - taxonomy.hazards):
            rule_list = ", ".join(sorted([f"`{rule.name}`" for rule in rules if rule.hazard == hazard])[:3])
            message = f"`{taxonomy.name}` does not mention the hazard `{hazard}`, which {rule_list} name"
            help = "add it to a category, or to `left-out` with the reason"
            reader.report_gap(message, (taxonomy.name,), help)
    return tuple(reader.diagnostics)


class _TaxonomyReader(TableReader):
    def __init__(self, table: Source) -> None:
        super().__init__(table, SC.BAD_TAXONOMY)

    def report_gap(self, message: str, keys: Keys, help: str | None = None) -> None:
        """Warn that no category or rule covers something."""
        self.report(message, keys, help, SC.TAXONOMY_GAP, Severity.WARNING)

    def report_unknown_hazards(self, names: Iterable[str], hazards: set[str], keys: Keys) -> None:
        """Report the names that are not hazards of any rule."""
        for name in sorted({*names} - hazards):
            self.report(f"no rule has the hazard `{name}`", keys, suggest_name(name, sorted(hazards)))

    def read(self) -> tuple[Taxonomy, ...]:
        data = self.parse_table()
        return () if data is None else tuple([self._read_taxonomy(name, value) for name, value in data.items()])

    def _read_taxonomy(self, name: str, value: Any) -> Taxonomy:
        keys = (name,)
        fields = self._read_table(value, keys, _TAXONOMY_KEYS)
        category_tables = self._read_table(fields.get("categories", {}), (*keys, "categories"))
        if not category_tables:
            self.report(f"`{name}` has no categories", keys, f"write `[{name}.categories.NAME]`")
        left_out = self._read_texts_by_name(fields.get("left-out", {}), (*keys, "left-out"))
        worlds = self._read_texts_by_name(fields.get("worlds", {}), (*keys, "worlds"))
        categories = [
            self._read_category(key, table, (*keys, "categories", key)) for key, table in category_tables.items()
        ]
        return Taxonomy(name, self._read_text(fields, "title", keys) or name, tuple(categories), left_out, worlds)

    def _read_category(self, name: str, value: Any, keys: Keys) -> Category:
        fields = self._read_table(value, keys, _CATEGORY_KEYS)
        targets = self._read_names(fields, "targets", keys)
        for target in sorted(targets - set(TARGETS)):
            self.report(f"unknown target of harm {target!a}", (*keys, "targets"), f"one of {', '.join(TARGETS)}")
        hazards, rules = self._read_names(fields, "hazards", keys), self._read_names(fields, "rules", keys)
        reason = self._read_text(fields, "reason", keys)
        worlds = self._read_texts_by_name(fields.get("worlds", {}), (*keys, "worlds"))
        return Category(name, self._read_text(fields, "title", keys) or name, targets, hazards, rules, reason, worlds)

    def _read_table(self, value: Any, keys: Keys, allowed: tuple[str, ...] | None = None) -> dict[str, Any]:
        if not isinstance(value, dict):
            self.report(f"`{keys[-1]}` must be a table", keys, f"write `[{'.'.join(keys)}]` and its entries below it")
            return {}
        for key in value:
            if allowed is not None and key not in allowed:
                self.report(f"unknown key {key!a}", (*keys, key), f"one of {', '.join(allowed)}")
        return value

    def _read_text(self, fields: dict[str, Any], key: str, keys: Keys) -> str | None:
        value = fields.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            self.report(f"`{key}` must be a text", (*keys, key))
            return None
        return value

    def _read_names(self, fields: dict[str, Any], key: str, keys: Keys) -> frozenset[str]:
        value = fields.get(key, [])
        if not isinstance(value, list) or not all([isinstance(name, str) for name in value]):
            self.report(f"`{key}` must be a list of names", (*keys, key), f'write `{key} = ["..", ..]`')
            return frozenset()
        return frozenset(value)

    def _read_texts_by_name(self, value: Any, keys: Keys) -> dict[str, str]:
        fields = self._read_table(value, keys)
        texts = {key: self._read_text(fields, key, keys) for key in fields}
        return {key: text for key, text in texts.items() if text is not None}
