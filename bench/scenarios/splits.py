"""Two divisions of a set into development and test halves: by families, and by rules."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from plansafe.llm.scenarios.model import Scenario, Split
from plansafe.llm.scenarios.sets.structure import rule_key


def divide(scenarios: Sequence[Scenario], rule_of: Mapping[str, str] | None = None) -> dict[str, dict[str, list[str]]]:
    """The divisions as JSON values: ``family`` lists families, ``rule`` lists scenarios.

    Scenarios of one family, or with one rule (names and objects removed), are in one half. The halves are balanced by
    kind and hazard type; the result depends on the scenarios alone. ``rule_of``: the rule of each scenario by name, if
    the scenarios share a library of rules.
    """
    families = {scenario.name: scenario.family for scenario in scenarios}
    rules = rule_of or {scenario.name: rule_key(scenario) for scenario in scenarios}
    by_family = _halves(scenarios, families)
    by_rule = _halves(scenarios, rules)
    return {
        "family": {
            split.value: sorted({families[name] for name, half in by_family.items() if half is split})
            for split in Split
        },
        "rule": {split.value: sorted([name for name, half in by_rule.items() if half is split]) for split in Split},
    }


def splits_text(scenarios: Sequence[Scenario], rule_of: Mapping[str, str] | None = None) -> str:
    """The text of ``splits.json``: one name a line."""
    return json.dumps(divide(scenarios, rule_of), indent=0) + "\n"


def _halves(scenarios: Iterable[Scenario], groups: Mapping[str, str]) -> dict[str, Split]:
    """The half of each scenario: large groups first, each to the half that has less of its kinds and types."""
    members: defaultdict[str, list[Scenario]] = defaultdict(list)
    for scenario in scenarios:
        members[groups[scenario.name]].append(scenario)
    filled: dict[Split, Counter[tuple[str, str]]] = {split: Counter() for split in Split}
    out: dict[str, Split] = {}
    for group in sorted(members, key=lambda name: (-len(members[name]), hashlib.sha256(name.encode()).hexdigest())):
        cells = Counter([(scenario.kind.value, scenario.types[0]) for scenario in members[group]])

        def load(split: Split, cells: Counter[tuple[str, str]] = cells) -> tuple[int, int]:
            return sum([count * filled[split][cell] for cell, count in cells.items()]), filled[split].total()

        half = min(Split, key=load)
        filled[half] += cells
        out |= {scenario.name: half for scenario in members[group]}
    return out
