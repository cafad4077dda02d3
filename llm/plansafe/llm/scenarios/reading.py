"""Scenarios from folders: the shipped ones, and a user's own, whose mistakes are diagnostics.

A folder holds ``scenario.toml`` and ``problem.pddl``; perhaps ``domain.pddl`` (additions to the base), rules
(``rules.safe``) and the reference plans ``safe.plan`` and ``unsafe.plan``. Reading compiles nothing: whether plans do
what they are there for is asked in :mod:`plansafe.llm.scenarios.judging`.
"""

from __future__ import annotations

import os

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source
from plansafe.llm.scenarios.building import Collection, Foundations, Refused, ScenarioBuilder
from plansafe.llm.scenarios.model import Scenario, Split
from plansafe.llm.scenarios.sets.reading import PART_SUFFIXES, SHIPPED_SETS, part_paths, read_parts, set_folder
from plansafe.llm.scenarios.table import read_table

SHIPPED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shipped")
TABLE = "scenario.toml"
MOST_BYTES = 1_000_000
MOST_SCENARIOS = 10_000


def load_scenarios(split: Split | str | None = None) -> tuple[Scenario, ...]:
    """The scenarios that come with safecheck, by name; of one half (``dev`` or ``test``), or all.

    Raises ``ValueError`` for another split.
    """
    wanted_split = None if split is None else Split(split)
    result = read_scenarios(SHIPPED)
    if result.diagnostics:
        raise AssertionError(f"a shipped scenario cannot be read: {result.diagnostics[0].message}")
    return tuple([scenario for scenario in result.scenarios if wanted_split is None or scenario.split is wanted_split])


def read_scenarios(folder: str) -> Collection:
    """The scenarios in the folders of a folder, or the one that the folder itself is; or the scenarios of part files.

    ``folder`` may also be a part file, or the name of a shipped set where no such folder exists. Mistakes in it never
    raise: they are diagnostics, and the scenario that has one is left out.
    """
    if folder in SHIPPED_SETS and not os.path.exists(folder):
        folder = set_folder(folder)
    parts = (folder,) if folder.endswith(PART_SUFFIXES) and os.path.isfile(folder) else part_paths(folder)
    if parts:
        return read_parts(parts)
    if os.path.isfile(os.path.join(folder, TABLE)):
        return _collected([folder])
    try:
        with os.scandir(folder) as entries:
            names = sorted([entry.name for entry in entries if entry.is_dir() and not entry.name.startswith(".")])
    except OSError as error:
        return Collection((), (Diagnostic(SC.UNREADABLE_FILE, f"cannot read {folder}: {error.strerror}"),))
    folders = [os.path.join(folder, name) for name in names]
    folders = [path for path in folders if os.path.isfile(os.path.join(path, TABLE))]
    if not folders:
        message = f"no scenario in {folder}: no folder in it contains a {TABLE}"
        return Collection(
            (), (Diagnostic(SC.BAD_SCENARIO, message, help="docs/scenarios.md describes the contents of a folder"),)
        )
    if len(folders) > MOST_SCENARIOS:
        message = f"{folder} contains more than {MOST_SCENARIOS} scenarios"
        return Collection((), (Diagnostic(SC.BAD_SCENARIO, message),))
    return _collected(folders)


def read_foundations(folder: str) -> Foundations | Diagnostic:
    """The base and the specifications of a folder that describes itself, whatever state its problem is in."""
    reader = _Folder(folder)
    try:
        table = read_table(reader.text(TABLE), os.path.basename(os.path.abspath(folder)))
        return table[0] if isinstance(table, tuple) else reader.foundations(table)
    except Refused as refused:
        return refused.diagnostic


def _collected(folders: list[str]) -> Collection:
    scenarios: list[Scenario] = []
    wrong: list[Diagnostic] = []
    sources: list[Source] = []
    homes: dict[str, Scenario] = {}
    for folder in folders:
        reader = _Folder(folder)
        result = reader.read()
        sources += reader.sources
        if isinstance(result, tuple):
            wrong += result
            continue
        first = homes.setdefault(result.family, result)
        if first.split is not result.split:
            message = f"the family {result.family} is in both splits: {first.name} ({first.split}), {result.name}"
            wrong.append(Diagnostic(SC.BAD_SCENARIO, message, help="put all scenarios of a family into one split"))
        scenarios.append(result)
    return Collection(tuple(scenarios), tuple(wrong), tuple(sources))


class _Folder(ScenarioBuilder):
    """One folder being read; ``sources`` are the texts that were."""

    def __init__(self, path: str) -> None:
        super().__init__(path, os.path.basename(os.path.abspath(path)))
        self.path = path
        self.sources: list[Source] = []

    def read(self) -> Scenario | tuple[Diagnostic, ...]:
        try:
            source = self.text(TABLE)
            table = read_table(source, self.name)
            return table if isinstance(table, tuple) else self.build(source, table)
        except Refused as refused:
            return (refused.diagnostic,)

    def optional(self, name: str) -> Source | None:
        return self.text(name) if os.path.lexists(os.path.join(self.path, name)) else None

    def text(self, name: str) -> Source:
        """The text of a file of the folder. Raises :class:`Refused`."""
        path = os.path.join(self.path, name)
        try:
            with open(path, "rb") as file:
                data = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise Refused(Diagnostic(SC.UNREADABLE_FILE, f"cannot read {path}: {error.strerror}")) from None
        if len(data) > MOST_BYTES:
            raise Refused(Diagnostic(SC.BAD_SCENARIO, f"{path} has more than {MOST_BYTES} bytes"))
        source = Source.from_bytes(path, data)
        self.sources.append(source)
        return source
