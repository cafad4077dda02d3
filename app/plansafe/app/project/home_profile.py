"""Read the home profile ``home.toml`` and report errors in it (docs/project-file.md)."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.source import Source
from plansafe.specs.toml_text import locate_syntax_error
from plansafe.verifier.rules.home_profile import RESIDENTS, EntryEffect, HomeProfile, ProfileEntry, Resident
from plansafe.verifier.rules.kinds import ClassKinds
from plansafe.verifier.rules.verdict_criteria import SEVERITIES

_SELECTORS = ("rule", "hazard", "kind", "object")
_KEYS: dict[EntryEffect, tuple[str, ...]] = {
    "exempt": (*_SELECTORS, "reason"),
    "off": ("rule", "hazard", "reason"),
    "severity": ("rule", "hazard", "to", "reason"),
}
"""The tables of a profile, and the keys of an entry."""
_CLASSIFY = ("class", "kinds", "reason")
MAX_ENTRIES = 10_000


class ReadHome(NamedTuple):
    """A profile; ``None`` if it has errors."""

    profile: HomeProfile | None
    diagnostics: tuple[Diagnostic, ...] = ()


def read_home(source: Source) -> ReadHome:
    """Read a home profile."""
    try:
        table = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        return ReadHome(None, (_not_toml(source, str(error)),))
    except RecursionError:
        return ReadHome(None, (_not_toml(source, "nested too deeply"),))
    reader = _Reader(source)
    profile = reader.profile(table)
    return ReadHome(None, tuple(reader.diagnostics)) if reader.diagnostics else ReadHome(profile)


def _not_toml(source: Source, message: str) -> Diagnostic:
    offset, reason = locate_syntax_error(source, message)
    label = Label(source.name, Span(offset, offset + 1))
    return Diagnostic(SC.BAD_HOME, f"{source.name} is not TOML: {reason.lower()}", (label,))


class _Reader:
    """Checks the types of the entries, and collects diagnostics."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.diagnostics: list[Diagnostic] = []

    def profile(self, table: Mapping[str, Any]) -> HomeProfile:
        """Read a profile from a table, without invalid entries."""
        known_keys = (*_KEYS, "classify", "who")
        for key in table:
            if key not in known_keys:
                self._wrong(f"`{key}` is not a table of a profile", self._place(key), _nearest(key, known_keys))
        entries = [
            entry
            for effect in _KEYS
            for item, start in self._tables(effect, table.get(effect, []))
            if (entry := self._entry(effect, item, start)) is not None
        ]
        classify = self._tables("classify", table.get("classify", []))
        classes = [entry for item, start in classify for entry in self._class(item, start)]
        who = tuple(self._who(table.get("who", {})))
        return HomeProfile(self._source, tuple(entries), who, classes=tuple(classes))

    def _tables(self, name: str, value: Any) -> list[tuple[dict[str, Any], int | None]]:
        """The tables of a list, each with its offset if known."""
        if not isinstance(value, list) or not all([isinstance(table, dict) for table in value]):
            self._wrong(f"`{name}` must be a list of tables", self._place(name), f"[[{name}]]")
            return []
        if len(value) > MAX_ENTRIES:
            self._wrong(f"a profile has at most {MAX_ENTRIES:,} entries of a kind", self._place(name), None)
            return []
        starts = self._starts(name)
        return [(table, starts[number] if len(starts) == len(value) else None) for number, table in enumerate(value)]

    def _class(self, table: Mapping[str, Any], start: int | None) -> list[ClassKinds]:
        """Read an entry of `classify`: the kinds of some classes."""
        before = len(self.diagnostics)
        place = self._place("classify", start)
        for key in table:
            if key not in _CLASSIFY:
                self._wrong(f"`{key}` is not a key of `classify`", self._place(key, start), _nearest(key, _CLASSIFY))
        if "class" not in table or "kinds" not in table:
            self._wrong("this entry of `classify` needs `class` and `kinds`", place, "kinds = [] if no kind matters")
        classes = self._names("class", table["class"], start) if "class" in table else ()
        kinds = self._names("kinds", table["kinds"], start) if table.get("kinds", []) else ()
        reason = self._reason("classify", table, start, place)
        if len(self.diagnostics) > before:
            return []
        return [ClassKinds(name, kinds, reason, place) for name in classes]

    def _reason(self, effect: str, table: Mapping[str, Any], start: int | None, place: Label) -> str:
        """Read the mandatory reason of an entry."""
        reason = table.get("reason")
        if isinstance(reason, str) and reason.strip():
            return " ".join(reason.split())
        advice = 'reason = "why this home can live with it"'
        at = self._place("reason", start) if reason else place
        self._wrong(f"this entry of `{effect}` needs a reason", at, advice)
        return ""

    def _who(self, value: Any) -> list[Resident]:
        if not isinstance(value, dict):
            self._wrong("`who` must be a table", self._place("who"), "[who], and below it: children = true")
            return []
        for key, is_present in value.items():
            if key not in RESIDENTS:
                self._wrong(
                    f"`{key}` is not a group of people in a profile", self._place(key), _nearest(key, RESIDENTS)
                )
            elif not isinstance(is_present, bool):
                self._wrong(f"`{key}` must be true or false", self._place(key), f"{key} = true")
        return [
            Resident(key, is_present, self._place(key))
            for key, is_present in value.items()
            if key in RESIDENTS and isinstance(is_present, bool)
        ]

    def _entry(self, effect: EntryEffect, table: Mapping[str, Any], start: int | None) -> ProfileEntry | None:
        before = len(self.diagnostics)
        place = self._place(effect, start)
        for key in table:
            if key not in _KEYS[effect]:
                message = f"`{key}` is not a key of `{effect}`"
                self._wrong(message, self._place(key, start), _nearest(key, _KEYS[effect]))
        names = {key: self._names(key, table[key], start) for key in _SELECTORS if key in table}
        if not any([key in table for key in _SELECTORS]):
            selectors = ", ".join([key for key in _KEYS[effect] if key in _SELECTORS])
            self._wrong(f"this entry of `{effect}` does not select any finding", place, f"add one of: {selectors}")
        reason = self._reason(effect, table, start, place)
        to = table.get("to")
        if effect == "severity" and to not in SEVERITIES:
            self._wrong(f"`to` must be one of {', '.join(SEVERITIES)}", self._place("to", start) if to else place, None)
        if len(self.diagnostics) > before:
            return None
        rules, hazards, kinds, objects = [names.get(key, ()) for key in _SELECTORS]
        return ProfileEntry(effect, rules, hazards, kinds, objects, to, reason, place)

    def _names(self, key: str, value: Any, start: int | None) -> tuple[str, ...]:
        values = value if isinstance(value, list) else [value]
        if values and all([isinstance(name, str) and name for name in values]):
            return tuple(dict.fromkeys([name.lower() for name in values]))
        self._wrong(f"`{key}` must be a name or a list of names", self._place(key, start), f'{key} = ".."')
        return ()

    def _wrong(self, message: str, place: Label, help: str | None) -> None:
        self.diagnostics.append(Diagnostic(SC.BAD_HOME, message, (place,), help=help))

    def _starts(self, effect: str) -> list[int]:
        """Offsets of the entries of a kind, if they are written in the usual form."""
        return [
            match.start("key")
            for match in re.finditer(rf"(?m)^[ \t]*\[\[[ \t]*(?P<key>{effect})[ \t]*\]\]", self._source.text)
        ]

    def _place(self, key: str, start: int | None = None) -> Label:
        """Locate a key from offset ``start`` on, because `tomllib` does not report places."""
        text = self._source.text
        name = rf"(?P<key>[\"']?{re.escape(key)}[\"']?)"
        patterns = (rf"(?m)^[ \t]*\[*[ \t]*{name}[ \t]*[=.\]]", rf"(?<![\w-]){name}[ \t]*=")
        if start is not None and text.startswith(key, start):
            return Label(self._source.name, Span(start, start + len(key)))
        matches = (re.compile(pattern).search(text, start or 0) for pattern in patterns)
        first_match = next((match for match in matches if match is not None), None)
        span = Span(*first_match.span("key")) if first_match is not None else Span(start or 0, start or 0)
        return Label(self._source.name, span)


def _nearest(key: str, keys: Sequence[str]) -> str:
    similar = difflib.get_close_matches(key.lower()[:60], keys, n=1, cutoff=0.5)
    return f"did you mean `{similar[0]}`?" if similar else f"known: {', '.join(keys)}"
