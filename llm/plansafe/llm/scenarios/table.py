"""``scenario.toml``: its keys and their values, with diagnostics (SC778) for wrong ones."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, suggest_name
from plansafe.grammar.source import Source
from plansafe.llm.scenarios.model import Kind, Solvable, Split
from plansafe.specs.taxonomy import load_taxonomies
from plansafe.specs.toml_text import find_key_span, read_toml

NAME = re.compile(r"[a-z][a-z0-9-]{0,63}\Z")
MOST_WORDS = 2000
VERSION = 1
_KEYS = (
    "name", "version", "kind", "types", "category", "family", "split", "base", "specs", "instruction", "goal",
    "solvable", "reason", "transition"
)  # fmt: skip
_ROW = ("action", "risk")
_Choice = TypeVar("_Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Table:
    """The values of a ``scenario.toml``, each of its kind; ``transitions`` are actions with their risk literals."""

    kind: Kind
    types: tuple[str, ...]
    category: str
    family: str
    split: Split
    base: str
    specs: tuple[str, ...]
    instruction: str
    goal: str
    solvable: Solvable
    reason: str
    transitions: tuple[tuple[str, tuple[str, ...]], ...]


def read_table(source: Source, folder: str) -> Table | tuple[Diagnostic, ...]:
    """The description of the scenario in the folder of this name, or all that is wrong with it."""
    data = read_toml(source, SC.BAD_SCENARIO)
    if isinstance(data, Diagnostic):
        return (data,)
    return _Reader(source, data).read(folder)


class _Reader:
    def __init__(self, source: Source, data: dict[str, Any]) -> None:
        self.source = source
        self.data = data
        self.wrong: list[Diagnostic] = []

    def read(self, folder: str) -> Table | tuple[Diagnostic, ...]:
        for key in self.data:
            if key not in _KEYS:
                self._say((key,), f"`{key}` is not a key of a scenario", suggest_name(key, _KEYS))
        name = self._text("name")
        if name and (name != folder or not NAME.match(name)):
            self._say(("name",), f"the name is {name!a}, the folder is {folder!a}", "give both one name: a-z, 0-9, `-`")
        if self.data.get("version") != VERSION or isinstance(self.data.get("version"), bool):
            self._say(("version",), f"the version is not {VERSION}", "the format has no other version")
        taxonomies = load_taxonomies()
        types = self._names("types", tuple([category.name for category in taxonomies["safel"].categories]), least=1)
        category = self._text("category", optional=True)
        valid = tuple([category.name for category in taxonomies["safeplan-bench"].categories])
        if category and category not in valid:
            self._say(("category",), f"SafePlan-Bench has no category {category!a}", suggest_name(category, valid))
        family = self._text("family")
        if family and not NAME.match(family):
            self._say(("family",), f"{family!a} is not a valid name", "write a-z, 0-9, `-`")
        table = Table(
            self._choice("kind", Kind, Kind.SITUATIONAL),
            types,
            category,
            family,
            self._choice("split", Split, Split.DEVELOPMENT),
            self._text("base"),
            self._names("specs", None),
            self._text("instruction"),
            self._text("goal"),
            self._choice("solvable", Solvable, Solvable.SAFELY),
            self._text("reason", optional=True),
            self._transitions(),
        )
        self._consistent(table)
        return tuple(self.wrong) if self.wrong else table

    def _consistent(self, table: Table) -> None:
        if table.kind is Kind.MALICIOUS and table.solvable is Solvable.SAFELY:
            self._say(
                ("solvable",), "a malicious goal must not be safely reachable", 'write solvable = "only-unsafely"'
            )
        if table.solvable is not Solvable.SAFELY and not table.reason:
            self._say(
                ("solvable",), "`reason` is missing: it must say why no safe plan exists", "give the reason in `reason`"
            )

    # -- values -------------------------------------------------------------------------------------------------------

    def _say(self, at: tuple[str, ...], message: str, help: str | None = None) -> None:
        label = Label(self.source.name, find_key_span(self.source, at), "here")
        self.wrong.append(Diagnostic(SC.BAD_SCENARIO, message, (label,), help=help))

    def _text(self, key: str, optional: bool = False) -> str:
        value = self.data.get(key, "" if optional else None)
        if isinstance(value, str) and len(value) <= MOST_WORDS and (optional or value.strip()) and value.isprintable():
            return value
        if value is None:
            self._say((key,), f"`{key}` is missing", f'write {key} = ".."')
        else:
            self._say((key,), f"`{key}` is not a text of one line, of at most {MOST_WORDS} characters")
        return ""

    def _choice(self, key: str, kind: type[_Choice], default: _Choice) -> _Choice:
        value = self.data.get(key)
        valid = tuple([member.value for member in kind])
        if isinstance(value, str) and value in valid:
            return kind(value)
        self._say(
            (key,),
            f"`{key}` is none of {', '.join(valid)}",
            suggest_name(value, valid) if isinstance(value, str) else None,
        )
        return default

    def _names(self, key: str, valid: tuple[str, ...] | None, least: int = 0) -> tuple[str, ...]:
        value = self.data.get(key, [])
        if not isinstance(value, list) or not all([isinstance(name, str) and name.isprintable() for name in value]):
            self._say((key,), f"`{key}` is not a list of names")
            return ()
        if len(value) < least or len(set(value)) < len(value):
            self._say((key,), f"`{key}` is empty, or names something twice")
        for name in value:
            if valid is not None and name not in valid:
                self._say((key,), f"SAFEL has no type {name!a}", suggest_name(name, valid))
        return tuple(value)

    def _transitions(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        rows = self.data.get("transition", [])
        if not isinstance(rows, list) or not all([isinstance(row, dict) for row in rows]):
            self._say(
                ("transition",), "`transition` is not a list of tables", "write [[transition]], then action and risk"
            )
            return ()
        out = []
        for number, row in enumerate(rows, 1):
            at = ("transition", str(number))
            action, risk = row.get("action"), row.get("risk")
            if set(row) - set(_ROW) or not isinstance(action, str) or not action.isprintable():
                self._say(at, "a transition has exactly an `action` and the literals of its `risk`")
            elif not isinstance(risk, list) or not risk or not all([isinstance(name, str) for name in risk]):
                self._say((*at, "risk"), f"the `risk` of {action} is not a list of literals")
            else:
                out.append((action.lower(), tuple(risk)))
        return tuple(out)
