"""Figures about a set of scenarios as Markdown: counts by kind, type, target and split, sizes, and rejections."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plansafe.llm.scenarios.model import Kind, Scenario, Split
from plansafe.llm.scenarios.sets.acceptance import Instructions
from plansafe.llm.scenarios.sets.structure import structure_of
from plansafe.llm.scenarios.validation.drafts import Draft
from plansafe.llm.scenarios.validation.survey import entries
from plansafe.specs.taxonomy import TARGETS, load_taxonomies

REASONS = {
    "form": "the text of the scenario is incomplete or malformed",
    "declared": "a name is not declared, or not used as declared",
    "actions": "a new action is malformed, redefines the base, or can never be taken",
    "action-name": "an action's name carries the risk",
    "rule": "the rule is about one changing fact, or one action causes all of its facts",
    "reference": "the reference plan is short, fails, misses the goal, or has the wrong verdict",
    "hazard": "no rule is broken, or none of the stated hazard type or category",
    "natural": "situational: the natural plan is safe, or none was found",
    "safe-way": "malicious: a safe plan reaches the goal, or no proof was found within the limit",
    "steps": "fewer than five steps suffice, or the shortest length is not known",
    "words": "risk: the task gives the hazard away",
    "environment": "risk: the environment is too small",
    "script": "risk: a script cannot be executed",
    "safe": "risk: the safe script is short, unsafe or undecided",
    "goal": "risk: the scripts have no outcome in common, or miss the goal",
    "rule-count": "risk: more than twenty tasks break the rule",
    "novelty": "the instruction has Rouge-L of at least 0.7 with another one",
    "structure": "the structure occurs more than five times",
    "name": "another scenario has the same name",
}
_MOST_ROWS = 20


def set_figures(scenarios: Sequence[Scenario], rules: Mapping[str, Split] | None = None) -> str:
    """Counts and sizes as Markdown tables. ``rules``: the split of each scenario by rules."""
    parts = [_kinds(scenarios, rules or {}), _types(scenarios), _targets(scenarios), _sizes(scenarios)]
    return "\n\n".join(parts) + "\n"


def rejection_table(lines: Iterable[str]) -> str:
    """The verdicts of a log of ``scenario accept`` by reason, as a Markdown table.

    A scenario that was changed and judged again counts as a new proposal. A proposal can have several reasons.
    """
    proposals = _proposals(lines)
    rejected = [record for record in proposals if not record["accepted"]]
    counts = Counter([code for record in rejected for code in record["codes"]])
    rows = [
        f"| `{code}` | {REASONS.get(code, '')} | {count} | {count / max(1, len(rejected)):.1%} |"
        for code, count in counts.most_common()
    ]
    share = len(rejected) / max(1, len(proposals))
    head = [
        f"{len(proposals)} proposals were judged, {len(rejected)} rejected ({share:.1%}).",
        "",
        "| code | reason | proposals | of the rejected |",
        "|---|---|---|---|",
    ]
    return "\n".join([*head, *rows]) + "\n"


def rejections_by(lines: Iterable[str], key: str) -> str:
    """Return the numbers of rejected proposals by author, role or category (``key``), as a Markdown table."""
    proposals = _proposals(lines)
    names = [(str(record["figures"].get(key) or "not known"), record["accepted"]) for record in proposals]
    groups, rejected = Counter([name for name, _ in names]), Counter([name for name, accepted in names if not accepted])
    frequent = groups.most_common(_MOST_ROWS)
    rows = [[name, count, rejected[name], f"{rejected[name] / count:.1%}"] for name, count in frequent]
    omitted = len(groups) - len(rows)
    return table([key, "proposals", "rejected", "share"], rows) + (f"\n\nand {omitted} more." if omitted else "")


def _proposals(lines: Iterable[str]) -> list[dict[str, Any]]:
    """The last verdict on each text; a rejection stays."""
    proposals: dict[str, dict[str, Any]] = {}
    for record in [json.loads(line) for line in lines if line.strip()]:
        known_record = proposals.setdefault(record["sha256"], record)
        if not record["accepted"] and known_record["accepted"]:
            proposals[record["sha256"]] = record
    return list(proposals.values())


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join([str(cell) for cell in row])} |" for row in rows]
    return "\n".join(lines)


def _kinds(scenarios: Sequence[Scenario], rules: Mapping[str, Split]) -> str:
    heads = ["", "all", *[f"{split} by family" for split in Split], *[f"{split} by rule" for split in Split]]
    rows = []
    for title, kind in (*[(kind.value, kind) for kind in Kind], ("all", None)):
        matching = [scenario for scenario in scenarios if kind is None or scenario.kind is kind]
        by_family = [sum([scenario.split is split for scenario in matching]) for split in Split]
        by_rule = [sum([rules.get(scenario.name) is split for scenario in matching]) for split in Split]
        rows.append([title, len(matching), *by_family, *by_rule])
    families = len({scenario.family for scenario in scenarios})
    return table(heads, rows) + f"\n\n{families} families."


def _types(scenarios: Sequence[Scenario]) -> str:
    rows = []
    for category in load_taxonomies()["safel"].categories:
        matching = [scenario for scenario in scenarios if scenario.types[0] == category.name]
        malicious = sum([scenario.kind is Kind.MALICIOUS for scenario in matching])
        rows.append([f"`{category.name}`", malicious, len(matching) - malicious, len(matching)])
    return table(["hazard type", "malicious", "situational", "all"], rows)


def _targets(scenarios: Sequence[Scenario]) -> str:
    categories = {category.name: category for category in load_taxonomies()["safel"].categories}
    rows = []
    for target in TARGETS:
        matching = [scenario for scenario in scenarios if target in categories[scenario.types[0]].targets]
        malicious = sum([scenario.kind is Kind.MALICIOUS for scenario in matching])
        if matching:
            rows.append([target, malicious, len(matching) - malicious, len(matching)])
    return table(["target", "malicious", "situational", "all"], rows)


def _sizes(scenarios: Sequence[Scenario]) -> str:
    values: dict[str, list[float]] = {
        "words of the instruction": [len(scenario.instruction.split()) for scenario in scenarios],
        "objects": [_objects(scenario) for scenario in scenarios],
        "new actions": [_new(scenario, ":action") for scenario in scenarios],
        "new predicates": [_new(scenario, ":predicates") for scenario in scenarios],
        "new types": [_new(scenario, ":types") for scenario in scenarios],
        "steps of the reference plan": [step_count(scenario.safe or scenario.unsafe) for scenario in scenarios],
        "situational: steps of the natural plan": [
            step_count(scenario.unsafe) for scenario in scenarios if scenario.kind is Kind.SITUATIONAL
        ],
        "Rouge-L with the nearest other instruction": nearest_scores(scenarios),
    }
    structures = Counter([structure_of(scenario) for scenario in scenarios])
    values["scenarios of one structure"] = list(structures.values())
    return size_table(values) + f"\n\n{len(structures)} structures."


def size_table(values: Mapping[str, Sequence[float]]) -> str:
    """Least, median, mean and most of each row."""
    rows = [
        [
            name,
            f"{min(values_of):.3g}",
            f"{statistics.median(values_of):.3g}",
            f"{statistics.mean(values_of):.3g}",
            f"{max(values_of):.3g}",
        ]
        for name, values_of in values.items()
        if values_of
    ]
    return table(["", "least", "median", "mean", "most"], rows)


def nearest_scores(scenarios: Sequence[Scenario]) -> list[float]:
    """The Rouge-L F of each instruction with the nearest of the earlier ones."""
    known_record = Instructions()
    out = []
    for scenario in scenarios:
        out.append(known_record.nearest(scenario.instruction)[1])
        known_record.add(scenario.instruction, scenario.name)
    return out


def _objects(scenario: Scenario) -> int:
    return sum([len(list(entries(section, 1))) for section in Draft(scenario.problem).sections(":objects")])


def _new(scenario: Scenario, head: str) -> int:
    if scenario.extension is None:
        return 0
    sections = Draft(scenario.extension).sections(head)
    match head:
        case ":action":
            return len(sections)
        case ":types":
            return sum([len(list(entries(section, 1))) for section in sections])
        case _:
            return sum([len(section) - 1 for section in sections])


def step_count(plan: object) -> int:
    """The number of steps of a plan."""
    text = getattr(plan, "text", "")
    return len([line for line in text.splitlines() if line.strip()])
