"""Scenarios from folders: the shipped ones, and a user's own, whose mistakes are diagnostics.

A folder holds ``scenario.toml`` and ``problem.pddl``; perhaps ``domain.pddl`` (what it adds to the base), rules
(``rules.safe``) and the reference plans ``safe.plan`` and ``unsafe.plan``. Reading compiles nothing: whether plans do
what they are there for is asked in :mod:`plansafe.llm.scenarios.judging`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

from plansafe.domains import domain_names, domain_path
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span, suggest_name
from plansafe.grammar.sexpr import format_node
from plansafe.grammar.source import Source
from plansafe.llm.metrics.transition import Side
from plansafe.llm.scenario.drafts import Draft
from plansafe.llm.scenario.merge import unite
from plansafe.llm.scenario.model import Scenario as Texts
from plansafe.llm.scenarios.model import Kind, Scenario, Solvable, Split, Transition
from plansafe.llm.scenarios.table import Table, read_table
from plansafe.llm.scenarios.transitions import Actions
from plansafe.specs import spec_names, spec_path

SHIPPED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shipped")
TABLE = "scenario.toml"
MOST_BYTES = 1_000_000
MOST_SCENARIOS = 10_000


class Foundations(NamedTuple):
    """What a scenario is judged against: the base domain and the specifications that its description names."""

    base: Source
    specs: tuple[Source, ...]


class Collection(NamedTuple):
    """The scenarios of a folder by name, and what is wrong with others, with the texts that labels refer to."""

    scenarios: tuple[Scenario, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    sources: tuple[Source, ...] = ()


def load_scenarios(split: Split | str | None = None) -> tuple[Scenario, ...]:
    """The scenarios that come with safecheck, by name; of one half (``dev`` or ``test``), or all.

    Raises ``ValueError`` for another split.
    """
    wanted = None if split is None else Split(split)
    found = read_scenarios(SHIPPED)
    if found.diagnostics:
        raise AssertionError(f"a shipped scenario cannot be read: {found.diagnostics[0].message}")
    return tuple([one for one in found.scenarios if wanted is None or one.split is wanted])


def read_scenarios(folder: str) -> Collection:
    """The scenarios in the folders of a folder, or the one that the folder itself is.

    What it holds never raises: mistakes are diagnostics, and the scenario that has one is left out.
    """
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
    except _Refused as refused:
        return refused.diagnostic


def _collected(folders: list[str]) -> Collection:
    scenarios: list[Scenario] = []
    wrong: list[Diagnostic] = []
    sources: list[Source] = []
    homes: dict[str, Scenario] = {}
    for folder in folders:
        reader = _Folder(folder)
        found = reader.read()
        sources += reader.sources
        if isinstance(found, tuple):
            wrong += found
            continue
        first = homes.setdefault(found.family, found)
        if first.split is not found.split:
            message = f"the family {found.family} is in both splits: {first.name} ({first.split}), {found.name}"
            wrong.append(Diagnostic(SC.BAD_SCENARIO, message, help="put all scenarios of a family into one split"))
        scenarios.append(found)
    return Collection(tuple(scenarios), tuple(wrong), tuple(sources))


class _Refused(Exception):
    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class _Folder:
    """One folder being read; ``sources`` are the texts that were."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.sources: list[Source] = []

    def read(self) -> Scenario | tuple[Diagnostic, ...]:
        try:
            source = self.text(TABLE)
            table = read_table(source, os.path.basename(os.path.abspath(self.path)))
            return table if isinstance(table, tuple) else self._scenario(source, table)
        except _Refused as refused:
            return (refused.diagnostic,)

    def _scenario(self, source: Source, table: Table) -> Scenario | tuple[Diagnostic, ...]:
        problem = self.text("problem.pddl")
        extension = self._optional("domain.pddl")
        safe, unsafe = self._optional("safe.plan"), self._optional("unsafe.plan")
        base, specs = self.foundations(table)
        self._plans_fit(table, safe, unsafe)
        drafts = [Draft(text) for text in (base, extension) if text is not None]
        for draft in drafts:
            if not draft.form:
                raise _Refused(_at_start(draft.source, f"{draft.name} is not a definition of a domain"))
        united = unite(drafts[0], drafts[1] if len(drafts) > 1 else None)
        goals = Draft(problem).sections(":goal")
        if len(goals) != 1 or len(goals[0]) != 2:
            raise _Refused(_at_start(problem, f"{problem.name} has no goal, or several"))
        made = _transitions(source, table, Actions(united.source, united.new_actions))
        wrong = tuple([one for one in made if isinstance(one, Diagnostic)])
        plans = tuple([plan for plan in (safe, unsafe) if plan is not None])
        name = os.path.basename(os.path.abspath(self.path))
        return wrong or Scenario(
            name=name,
            version=1,
            kind=table.kind,
            types=table.types,
            category=table.category,
            family=table.family,
            split=table.split,
            instruction=table.instruction,
            goal_words=table.goal,
            goal=format_node(goals[0][1]),
            solvable=table.solvable,
            reason=table.reason,
            base=table.base,
            problem=problem,
            domain=united.source,
            extension=extension,
            specs=specs,
            safe=safe,
            unsafe=unsafe,
            transitions=tuple([one for one in made if isinstance(one, Transition)]),
            texts=Texts(name, problem, extension, base, specs, plans),
        )

    def foundations(self, table: Table) -> Foundations:
        """The base and the specifications that a description names, and the folder's own. Raises :class:`_Refused`."""
        base = self._shipped("base", table.base, domain_path, domain_names())
        specs = [self._shipped("specification", name, spec_path, spec_names()) for name in table.specs]
        rules = self._optional("rules.safe")
        specs += [rules] if rules is not None else []
        if not specs:
            help = "write rules.safe, or `specs`"
            raise _Refused(Diagnostic(SC.BAD_SCENARIO, f"{self.path} has no rules", help=help))
        return Foundations(base, tuple(specs))

    def _plans_fit(self, table: Table, safe: Source | None, unsafe: Source | None) -> None:
        """The plans that are there are those that the description says there can be."""
        for plan, name, wanted in (
            (safe, "safe.plan", table.solvable is Solvable.SAFELY),
            (unsafe, "unsafe.plan", table.solvable is not Solvable.NO),
        ):
            if (plan is not None) is not wanted:
                said = f"{name} is {'missing' if wanted else 'there'}, and solvable is {table.solvable}"
                raise _Refused(Diagnostic(SC.BAD_SCENARIO, f"{self.path}: {said}"))

    def _optional(self, name: str) -> Source | None:
        return self.text(name) if os.path.lexists(os.path.join(self.path, name)) else None

    def text(self, name: str) -> Source:
        """The text of a file of the folder. Raises :class:`_Refused`."""
        path = os.path.join(self.path, name)
        try:
            with open(path, "rb") as file:
                data = file.read(MOST_BYTES + 1)
        except OSError as error:
            raise _Refused(Diagnostic(SC.UNREADABLE_FILE, f"cannot read {path}: {error.strerror}")) from None
        if len(data) > MOST_BYTES:
            raise _Refused(Diagnostic(SC.BAD_SCENARIO, f"{path} has more than {MOST_BYTES} bytes"))
        source = Source.from_bytes(path, data)
        self.sources.append(source)
        return source

    def _shipped(self, what: str, name: str, find: Callable[[str], str], known: tuple[str, ...]) -> Source:
        try:
            return Source.from_path(find(name))
        except KeyError:
            message = f"{self.path}: no {what} called {name!a} is shipped"
            raise _Refused(Diagnostic(SC.BAD_SCENARIO, message, help=suggest_name(name, known))) from None


def _transitions(source: Source, table: Table, actions: Actions) -> list[Transition | Diagnostic]:
    side = Side.EFFECT if table.kind is Kind.MALICIOUS else Side.PRECONDITION
    rows = enumerate(table.transitions, 1)
    return [actions.transition(source, number, action, risk, side) for number, (action, risk) in rows]


def _at_start(source: Source, message: str) -> Diagnostic:
    label = Label(source.name, Span(0, min(1, len(source.text))), "in this file")
    return Diagnostic(SC.BAD_SCENARIO, message, (label,))
