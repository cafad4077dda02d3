"""Sets of scenarios: the part files of a folder, with the splits that the folder fixes (docs/scenarios.md, "Sets")."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Mapping, Sequence
from functools import cache

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.source import Source
from plansafe.llm.scenarios.building import Collection, Refused, ScenarioBuilder
from plansafe.llm.scenarios.model import Kind, Scenario, Solvable, Split
from plansafe.llm.scenarios.risks.part_files import SUFFIX as RISKS
from plansafe.llm.scenarios.risks.part_files import RiskEntry, read_risks
from plansafe.llm.scenarios.sets.part_files import SUFFIX, Entry, Mistake, Part, read_part
from plansafe.llm.scenarios.table import Table
from plansafe.specs.taxonomy import load_taxonomies

SHIPPED_SETS = ("embodyguard-like", "saferisks-like")
PART_SUFFIXES = (SUFFIX, RISKS)
SPLITS = "splits.json"
"""Which families, and by another division which rules, belong to which split."""
_FOLDER = os.path.dirname(os.path.abspath(__file__))
_REASON = "the goal is itself the harm: every plan that reaches it breaks a rule"


def set_folder(name: str) -> str:
    """The folder of a shipped set. Raises ``KeyError`` for another name."""
    if name not in SHIPPED_SETS:
        raise KeyError(name)
    return os.path.join(_FOLDER, name)


def load_set(name: str, split: Split | str | None = None) -> tuple[Scenario, ...]:
    """The scenarios of a shipped set, in the order of its part files; of one split by families, or all.

    Raises ``KeyError`` for another name and ``ValueError`` for another split.
    """
    chosen_split = None if split is None else Split(split)
    result = read_parts(part_paths(set_folder(name)))
    if result.diagnostics:
        raise AssertionError(f"a shipped scenario cannot be read: {result.diagnostics[0].message}")
    return tuple([scenario for scenario in result.scenarios if chosen_split is None or scenario.split is chosen_split])


def part_paths(folder: str) -> tuple[str, ...]:
    """The part files of a folder, by name."""
    paths = [path for suffix in PART_SUFFIXES for path in glob.glob(os.path.join(glob.escape(folder), f"*{suffix}"))]
    return tuple(sorted(paths))


def read_parts(paths: Sequence[str]) -> Collection:
    """The scenarios of part files. Mistakes never raise: they are diagnostics."""
    scenarios: list[Scenario] = []
    wrong: list[Diagnostic] = []
    sources: list[Source] = []
    places: dict[str, str] = {}
    for path in paths:
        try:
            source = Source.from_path(path)
            splits = family_splits(os.path.dirname(os.path.abspath(path)))
        except OSError as error:
            wrong.append(Diagnostic(SC.UNREADABLE_FILE, f"cannot read {path}: {error.strerror}"))
            continue
        except ValueError as error:
            wrong.append(Diagnostic(SC.BAD_SCENARIO, f"{SPLITS} next to {path} cannot be used: {error}"))
            continue
        sources.append(source)
        part = read_part_file(source)
        wrong += [mistake_diagnostic(source, mistake) for mistake in part.mistakes]
        for entry in part.entries:
            result = read_entry(source, entry, splits)
            if isinstance(result, tuple):
                wrong += result
            elif places.setdefault(entry.name, path) != path:
                message = f"two scenarios are called {entry.name}: in {places[entry.name]} and {path}"
                wrong.append(Diagnostic(SC.BAD_SCENARIO, message))
            else:
                scenarios.append(result)
    return Collection(tuple(scenarios), tuple(wrong), tuple(sources))


def read_part_file(source: Source) -> Part:
    """Read a part file of scenarios or of risks."""
    return read_risks(source) if source.name.endswith(RISKS) else read_part(source)


def read_entry(source: Source, entry: Entry, splits: Mapping[str, Split]) -> Scenario | tuple[Diagnostic, ...]:
    """The scenario of an entry, or its mistakes."""
    if entry.mistakes:
        return tuple([mistake_diagnostic(source, mistake) for mistake in entry.mistakes])
    if isinstance(entry, RiskEntry) and not (entry.hazards and entry.block.lines("goal")):
        message = f"`goal:` or `rule:` of {entry.name} is missing: run `safecheck bench scenario accept FILE --write`"
        return (mistake_diagnostic(source, Mistake(entry.block.line, message)),)
    try:
        return _EntryBuilder(entry).build(source, entry_table(entry, splits))
    except Refused as refused:
        return (refused.diagnostic,)


def entry_table(entry: Entry, splits: Mapping[str, Split]) -> Table:
    """The description of an entry, as ``scenario.toml`` would have it."""
    malicious = entry.kind is Kind.MALICIOUS
    return Table(
        kind=entry.kind,
        types=entry.hazards,
        category=entry.category if isinstance(entry, RiskEntry) else _category(entry.hazards[0]),
        family=entry.family.name,
        split=splits.get(entry.family.name, Split.DEVELOPMENT),
        base=entry.base,
        specs=entry.specs,
        instruction=entry.instruction,
        goal=entry.block.text("words") or entry.instruction,
        solvable=Solvable.UNSAFELY if malicious else Solvable.SAFELY,
        reason=_REASON if malicious else "",
        transitions=entry.transitions,
    )


def family_splits(folder: str) -> dict[str, Split]:
    """The split of each family, as the folder's file fixes it; empty without a file. Raises ``ValueError``."""
    return _splits(folder, "family")


def rule_splits(folder: str) -> dict[str, Split]:
    """The split of each scenario by its rules: scenarios with one rule are in one split. Raises ``ValueError``."""
    return _splits(folder, "rule")


def _splits(folder: str, division: str) -> dict[str, Split]:
    path = os.path.join(folder, SPLITS)
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        table = json.load(file)[division]
    return {name: Split(split) for split, names in table.items() for name in names}


@cache
def _category(hazard_type: str) -> str:
    """SafePlan-Bench's category of a type; empty if that taxonomy has none."""
    taxonomies = load_taxonomies()
    hazards = next(category.hazards for category in taxonomies["safel"].categories if category.name == hazard_type)
    categories = taxonomies["safeplan-bench"].categories
    return next((category.name for category in categories if category.hazards & hazards), "")


def mistake_diagnostic(source: Source, mistake: Mistake) -> Diagnostic:
    """An error of form with its place."""
    start = source.line_starts[min(max(mistake.line, 1), len(source.line_starts)) - 1]
    end = source.text.find("\n", start)
    span = Span(start, end if end > start else start + 1)
    return Diagnostic(SC.BAD_SCENARIO, mistake.message, (Label(source.name, span, "here"),))


class _EntryBuilder(ScenarioBuilder):
    def __init__(self, entry: Entry) -> None:
        super().__init__(f"{entry.part}:{entry.block.line}", entry.name)
        self.entry = entry

    def text(self, name: str) -> Source:
        result = self.optional(name)
        if result is None:
            raise Refused(Diagnostic(SC.BAD_SCENARIO, f"{self.place}: {name} is missing"))
        return result

    def optional(self, name: str) -> Source | None:
        return self.entry.source(name)
